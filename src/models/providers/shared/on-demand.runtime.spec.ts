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

it('a runtime is loaded once, for the first request', async () => {
  const { runtime, loads } = counted();
  expect(loads()).toBe(0);
  const told = await Promise.all([tell(runtime, request), tell(runtime, request)]);
  told.push(await tell(runtime, request));
  expect(told).toEqual([EVENTS, EVENTS, EVENTS].map((events) => expect.objectContaining({ events })));
  expect(loads()).toBe(1);
});

it('a request that is aborted during the load throws the reason', async () => {
  const { runtime } = counted();
  const caller = new AbortController();
  const first = runtime.stream(request, caller.signal)[Symbol.asyncIterator]().next();
  caller.abort(new Error('the reader left'));
  await expect(first).rejects.toThrow('the reader left');
});
