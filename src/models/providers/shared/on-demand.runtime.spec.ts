import { expect, it } from '@jest/globals';
import { requestOf, tell } from '../../../../test/support/model-calls.js';
import { anthropicWire } from '../../../../test/support/provider-wire.js';
import type { ModelEvent, ModelRuntime } from '../../domain/model-runtime.js';
import { OnDemandRuntime } from './on-demand.runtime.js';

const request = requestOf(anthropicWire);
const EVENTS: readonly ModelEvent[] = [
  { type: 'text', text: 'hi' },
  { type: 'stopped', reason: 'end', usage: { inputTokens: 1, outputTokens: 1 } },
];

class Scripted implements ModelRuntime {
  async *stream(_request: unknown, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    await Promise.resolve();
    signal.throwIfAborted();
    yield* EVENTS;
  }
}

function counted(): { runtime: OnDemandRuntime; loads: () => number } {
  let loads = 0;
  const load = async (): Promise<ModelRuntime> => {
    loads += 1;
    await Promise.resolve();
    return new Scripted();
  };
  return { runtime: new OnDemandRuntime(load), loads: () => loads };
}

it('is loaded with the first request, once for all', async () => {
  const { runtime, loads } = counted();
  expect(loads()).toBe(0);
  const told = await Promise.all([tell(runtime, request), tell(runtime, request)]);
  told.push(await tell(runtime, request));
  expect(told).toEqual([EVENTS, EVENTS, EVENTS].map((events) => expect.objectContaining({ events })));
  expect(loads()).toBe(1);
});

it('hears of a request that was given up while it was loaded', async () => {
  const { runtime } = counted();
  const gone = new AbortController();
  const first = runtime.stream(request, gone.signal)[Symbol.asyncIterator]().next();
  gone.abort(new Error('the reader left'));
  await expect(first).rejects.toThrow('the reader left');
});
