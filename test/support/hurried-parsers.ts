import { jest } from '@jest/globals';
import { type Delivery, ParserProcess } from '../../src/knowledge/parsing/application/pool/parser-process.js';

/** Limits the processor time of the selected documents, in milliseconds, until mocks are restored. */
export function hurryParsers(limitMs: number, isSelected: (request: Delivery['request']) => boolean): void {
  const { parse } = ParserProcess.prototype as {
    parse: (
      this: ParserProcess,
      ...parameters: Parameters<ParserProcess['parse']>
    ) => ReturnType<ParserProcess['parse']>;
  };
  jest.spyOn(ParserProcess.prototype, 'parse').mockImplementation(function (this: ParserProcess, delivery, signal) {
    if (isSelected(delivery.request)) Object.assign(delivery.queued, { limitMs });
    return parse.call(this, delivery, signal);
  });
}
