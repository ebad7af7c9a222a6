import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { requestOf, callRuntime } from '../../../../test/support/model-calls.js';
import { anthropicWire } from '../../../../test/support/provider-wire.js';
import { ModelFailure } from '../../domain/model-failure.js';
import type { ModelEvent, ModelRuntime } from '../../domain/model-runtime.js';
import { RetryingRuntime } from './retrying.runtime.js';
import { MAX_RETRY_AFTER_SECONDS } from './limits.js';

const request = requestOf(anthropicWire);
const text: ModelEvent = { type: 'text', text: 'hi' };
const stopped: ModelEvent = { type: 'stopped', reason: 'end', usage: { inputTokens: 1, outputTokens: 1 } };

function failure(retryable: boolean, retryAfterSeconds?: number): ModelFailure {
  return new ModelFailure('provider_overloaded', 'busy', { retryable, retryAfterSeconds, ownKey: false });
}

/** Plays one script for each call: its events, and possibly a failure at the end. */
class ScriptedRuntime implements ModelRuntime {
  calls = 0;
  left = 0;

  constructor(private readonly scripts: readonly (readonly (ModelEvent | Error)[])[]) {}

  async *stream(): AsyncGenerator<ModelEvent> {
    const script = this.scripts[this.calls] ?? [];
    this.calls += 1;
    let ended = false;
    try {
      for (const step of script) {
        await Promise.resolve();
        if (step instanceof Error) {
          ended = true;
          throw step;
        }
        yield step;
      }
      ended = true;
    } finally {
      if (!ended) this.left += 1;
    }
  }
}

function retrying(scripts: readonly (readonly (ModelEvent | Error)[])[]) {
  const inner = new ScriptedRuntime(scripts);
  const clock = new ManualClock();
  return {
    inner,
    clock,
    runtime: new RetryingRuntime(
      () => Promise.resolve(inner),
      clock,
      () => 1,
    ),
  };
}

describe('a call that the provider refused before it sent anything', () => {
  it('is repeated after a growing pause, and then succeeds', async () => {
    const { inner, clock, runtime } = retrying([[failure(true)], [failure(true)], [text, stopped]]);
    const outcome = callRuntime(runtime, request);
    await clock.untilPending();
    expect({ calls: inner.calls, wait: clock.nextIn() }).toEqual({ calls: 1, wait: 500 });
    await clock.advance(500);
    await clock.untilPending();
    expect({ calls: inner.calls, wait: clock.nextIn() }).toEqual({ calls: 2, wait: 1000 });
    await clock.advance(1000);
    expect(await outcome).toEqual({ events: [text, stopped], thrown: undefined });
    expect(inner.calls).toBe(3);
  });

  it('is repeated at most twice', async () => {
    const { inner, clock, runtime } = retrying([[failure(true)], [failure(true)], [failure(true)], [text, stopped]]);
    const outcome = callRuntime(runtime, request);
    await clock.untilPending();
    await clock.advance(500);
    await clock.untilPending();
    await clock.advance(1000);
    expect((await outcome).thrown).toBeInstanceOf(ModelFailure);
    expect({ calls: inner.calls, pending: clock.pending() }).toEqual({ calls: 3, pending: 0 });
  });

  it('has random pauses', async () => {
    const inner = new ScriptedRuntime([[failure(true)], [stopped]]);
    const clock = new ManualClock();
    const outcome = callRuntime(
      new RetryingRuntime(
        () => Promise.resolve(inner),
        clock,
        () => 0,
      ),
      request,
    );
    await clock.untilPending();
    expect(clock.nextIn()).toBe(250);
    await clock.advance(250);
    await outcome;
  });

  it('is repeated after the time of Retry-After', async () => {
    const { clock, runtime } = retrying([[failure(true, 7)], [stopped]]);
    const outcome = callRuntime(runtime, request);
    await clock.untilPending();
    expect(clock.nextIn()).toBe(7000);
    await clock.advance(7000);
    expect((await outcome).events).toEqual([stopped]);
  });

  it('is not repeated if Retry-After is too long', async () => {
    const { inner, clock, runtime } = retrying([[failure(true, MAX_RETRY_AFTER_SECONDS + 1)], [stopped]]);
    expect((await callRuntime(runtime, request)).thrown).toMatchObject({ facts: { retryAfterSeconds: 21 } });
    expect({ calls: inner.calls, pending: clock.pending() }).toEqual({ calls: 1, pending: 0 });
  });

  it('is not repeated after the caller has aborted', async () => {
    const { inner, clock, runtime } = retrying([[failure(true)], [stopped]]);
    const controller = new AbortController();
    const outcome = callRuntime(runtime, request, controller.signal);
    await clock.untilPending();
    const reason = new Error('the user left');
    controller.abort(reason);
    expect((await outcome).thrown).toBe(reason);
    expect({ calls: inner.calls, pending: clock.pending() }).toEqual({ calls: 1, pending: 0 });
  });
});

describe('a call is not repeated', () => {
  it('if its failure is not retryable', async () => {
    const { inner, runtime } = retrying([[failure(false)], [stopped]]);
    expect((await callRuntime(runtime, request)).thrown).toMatchObject({ code: 'provider_overloaded' });
    expect(inner.calls).toBe(1);
  });

  it('after its first event', async () => {
    const { inner, clock, runtime } = retrying([[text, failure(true)], [stopped]]);
    const outcome = await callRuntime(runtime, request);
    expect(outcome.events).toEqual([text]);
    expect(outcome.thrown).toBeInstanceOf(ModelFailure);
    expect({ calls: inner.calls, pending: clock.pending() }).toEqual({ calls: 1, pending: 0 });
  });

  it('after an error that is not a ModelFailure', async () => {
    const bug = new TypeError('a bug');
    const { inner, runtime } = retrying([[bug], [stopped]]);
    expect((await callRuntime(runtime, request)).thrown).toBe(bug);
    expect(inner.calls).toBe(1);
  });
});

it('a reader that leaves early ends the call of the wrapped runtime', async () => {
  const { inner, runtime } = retrying([[text, stopped]]);
  for await (const event of runtime.stream(request, new AbortController().signal)) {
    if (event.type === 'text') break;
  }
  expect(inner.left).toBe(1);
});

describe('the wrapped runtime', () => {
  const counted = (): { runtime: RetryingRuntime; loads: () => number } => {
    let loads = 0;
    const load = async (): Promise<ModelRuntime> => {
      loads += 1;
      await Promise.resolve();
      return new ScriptedRuntime([
        [text, stopped],
        [text, stopped],
        [text, stopped],
      ]);
    };
    return { runtime: new RetryingRuntime(load, new ManualClock(), () => 1), loads: () => loads };
  };

  it('is loaded once, for the first request', async () => {
    const { runtime, loads } = counted();
    expect(loads()).toBe(0);
    const outcomes = await Promise.all([callRuntime(runtime, request), callRuntime(runtime, request)]);
    outcomes.push(await callRuntime(runtime, request));
    for (const { events } of outcomes) expect(events).toEqual([text, stopped]);
    expect(loads()).toBe(1);
  });

  it('gets no request that is aborted during the load', async () => {
    const { runtime } = counted();
    const caller = new AbortController();
    const first = runtime.stream(request, caller.signal)[Symbol.asyncIterator]().next();
    caller.abort(new Error('the reader left'));
    await expect(first).rejects.toThrow('the reader left');
  });
});
