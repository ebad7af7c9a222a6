import { jest } from '@jest/globals';
import { type Delivery, ParserProcess } from '../../src/knowledge/parsing/application/pool/parser-process.js';

/** Gives the documents that are meant so much processor time, in milliseconds, and all others what they have. Until mocks are restored. */
export function hurryParsers(limitMs: number, isMeant: (request: Delivery['request']) => boolean): void {
  const { parse } = ParserProcess.prototype as {
    parse: (
      this: ParserProcess,
      ...parameters: Parameters<ParserProcess['parse']>
    ) => ReturnType<ParserProcess['parse']>;
  };
  jest.spyOn(ParserProcess.prototype, 'parse').mockImplementation(function (this: ParserProcess, delivery, signal) {
    if (isMeant(delivery.request)) Object.assign(delivery.turn, { limitMs });
    return parse.call(this, delivery, signal);
  });
}
