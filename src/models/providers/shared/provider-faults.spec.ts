import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream, REFUSED_URL, type Script } from '../../../../test/support/fake-upstream.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { failureOf, requestOf, callRuntime, textOf, type CallOutcome } from '../../../../test/support/model-calls.js';
import { PROVIDER_WIRES, type ProviderWire } from '../../../../test/support/provider-wire.js';
import type { ModelEvent, ModelRuntime } from '../../domain/model-runtime.js';
import type { ModelRequest } from '../index.js';
import { ModelTransport } from './transport.js';
import { DRAIN_MS, IDLE_MS } from './limits.js';

/** Without `usage` events, which not every provider has. */
function said({ events }: CallOutcome): ModelEvent[] {
  return events.filter(({ type }) => type !== 'usage' && type !== 'response');
}

async function nextSaid(events: AsyncIterator<ModelEvent, unknown>): Promise<IteratorResult<ModelEvent, unknown>> {
  for (;;) {
    const next = await events.next();
    if (next.done === true || !['usage', 'response'].includes(next.value.type)) return next;
  }
}

const TOOL = { id: 't1', name: 'look_up', inputParts: ['{"city":', '"Paris"}'] };

describe.each(PROVIDER_WIRES)('$provider', (wire: ProviderWire) => {
  let upstream: FakeUpstream;
  let clock: ManualClock;
  let transport: ModelTransport;
  let runtime: ModelRuntime;

  beforeEach(async () => {
    upstream = await FakeUpstream.start();
    clock = new ManualClock();
    transport = new ModelTransport(clock);
    runtime = runtimeAt(upstream.url);
  });

  afterEach(async () => {
    await transport.onModuleDestroy();
    await upstream.close();
  });

  function runtimeAt(url: string): ModelRuntime {
    return wire.runtime({ managedKey: 'managed-key-1', baseUrl: wire.baseUrl(url) }, transport, clock);
  }

  function call(script: Script, changes: Partial<ModelRequest> = {}): Promise<CallOutcome> {
    upstream.respond(script);
    return callRuntime(runtime, requestOf(wire, changes));
  }

  const firstText = (): string[] => wire.text(['so far']).slice(0, -1);

  it('passes on text as it arrives, the usage and the end', async () => {
    const outcome = await call((exchange) => exchange.sendAll(wire.text(['Hel', 'lo'], { input: 12, output: 3 })));
    expect({ ...outcome, events: said(outcome) }).toEqual({
      thrown: undefined,
      events: [
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
        {
          type: 'stopped',
          reason: 'end',
          usage: { inputTokens: 12, outputTokens: 3, cachedInputTokens: null, thinkingTokens: null },
        },
      ],
    });
  });

  it('reports cached input and thinking, each as a part of its total', async () => {
    const usage = { input: 120, output: 30, cached: 100, thinking: 20 };
    const outcome = await call((exchange) => exchange.sendAll(wire.text(['Hello'], usage)));
    expect(outcome.events.at(-1)).toMatchObject({
      usage: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 100, thinkingTokens: 20 },
    });
  });

  it('reports a tool call when it is complete', async () => {
    const outcome = await call((exchange) => exchange.sendAll(wire.toolCall(TOOL)));
    expect(outcome.thrown).toBeUndefined();
    expect(said(outcome).at(0)).toEqual({ type: 'tool_call_started', id: 't1', name: 'look_up' });
    expect(outcome.events.slice(-2)).toEqual([
      { type: 'tool_call', call: { id: 't1', name: 'look_up', input: { city: 'Paris' } } },
      expect.objectContaining({ type: 'stopped', reason: 'tool_calls' }),
    ]);
  });

  it.each([
    [401, 'provider_auth', false],
    [403, 'provider_auth', false],
    [404, 'provider_error', false],
    [429, 'provider_rate_limited', true],
    [500, 'provider_error', true],
    [502, 'provider_error', true],
    [503, 'provider_overloaded', true],
    [529, 'provider_overloaded', true],
    [302, 'provider_error', false],
  ])('a %i before the first byte is %s, retryable: %s', async (status, code, retryable) => {
    const outcome = await call((exchange) =>
      exchange.refuse(status, { error: { message: 'no, own-key-1' } }, { location: 'http://127.0.0.1:1/' }),
    );
    const failure = failureOf(outcome);
    expect({ code: failure.code, retryable: failure.facts.retryable, events: outcome.events }).toEqual({
      code,
      retryable,
      events: [],
    });
    expect(upstream.requests).toHaveLength(1);
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain('own-key-1');
  });

  it('reports Retry-After in seconds, whether it is a number or a date', async () => {
    const inSeconds = await call((exchange) => exchange.refuse(429, {}, { 'retry-after': '7' }));
    expect(failureOf(inSeconds).facts.retryAfterSeconds).toBe(7);
    const date = new Date(clock.now().getTime() + 3_600_000).toUTCString();
    const asDate = await call((exchange) => exchange.refuse(429, {}, { 'retry-after': date }));
    expect(failureOf(asDate).facts.retryAfterSeconds).toBe(3600);
    const none = await call((exchange) => exchange.refuse(429, {}));
    expect(failureOf(none).facts.retryAfterSeconds).toBeUndefined();
  });

  it('recognizes its error for a conversation that is too long', async () => {
    const { status, body } = wire.contextTooLong;
    const failure = failureOf(await call((exchange) => exchange.refuse(status, body)));
    expect({ code: failure.code, retryable: failure.facts.retryable }).toEqual({
      code: 'context_too_long',
      retryable: false,
    });
    const other = failureOf(await call((exchange) => exchange.refuse(400, { error: { message: 'bad tool' } })));
    expect(other.code).toBe('provider_error');
  });

  it('distinguishes an own key from the managed one, in the request and in the failure', async () => {
    const own = failureOf(await call((exchange) => exchange.refuse(401, {})));
    const managed = failureOf(await call((exchange) => exchange.refuse(401, {}), { apiKey: undefined }));
    expect([own.facts.ownKey, managed.facts.ownKey]).toEqual([true, false]);
    expect(upstream.requests.map((request) => wire.keyOf(request.headers))).toEqual(['own-key-1', 'managed-key-1']);
  });

  it('fails as provider_auth, without a request, if there is no key', async () => {
    const keyless = wire.runtime({ managedKey: undefined, baseUrl: wire.baseUrl(upstream.url) }, transport, clock);
    const failure = failureOf(await callRuntime(keyless, requestOf(wire, { apiKey: undefined })));
    expect({ code: failure.code, ownKey: failure.facts.ownKey, sent: upstream.requests.length }).toEqual({
      code: 'provider_auth',
      ownKey: false,
      sent: 0,
    });
  });

  it('a refused connection is a retryable provider_error', async () => {
    const failure = failureOf(await callRuntime(runtimeAt(REFUSED_URL), requestOf(wire)));
    expect({ code: failure.code, retryable: failure.facts.retryable }).toEqual({
      code: 'provider_error',
      retryable: true,
    });
  });

  it.each<[string, Script]>([
    [
      'a reset',
      async (exchange) => {
        for (const frame of firstText()) await exchange.send(frame);
        exchange.reset();
      },
    ],
    ['an early end', (exchange) => exchange.sendAll(firstText())],
    ['a malformed chunk', (exchange) => exchange.sendAll([...firstText(), wire.malformed, ...wire.text(['more'])])],
    ['an error event', (exchange) => exchange.sendAll([...firstText(), wire.reportedError])],
  ])(
    '%s within the response fails the call after the text so far, and must not be repeated',
    async (_fault, script) => {
      const outcome = await call(script);
      const failure = failureOf(outcome);
      expect({ text: textOf(outcome.events), code: failure.code, retryable: failure.facts.retryable }).toEqual({
        text: 'so far',
        code: 'provider_error',
        retryable: false,
      });
    },
  );

  it('a response without events is a failure, not an empty reply', async () => {
    const outcome = await call(async (exchange) => {
      await exchange.send('');
      exchange.end();
    });
    expect(failureOf(outcome).code).toBe('provider_error');
  });

  it.each<[string, (exchange: Parameters<Script>[0]) => void]>([
    ['reset', (exchange) => exchange.reset()],
    ['ended', (exchange) => exchange.end()],
  ])('never reports an incomplete tool call of a response that was %s', async (_how, cut) => {
    const outcome = await call(async (exchange) => {
      for (const frame of wire.halfToolCall) await exchange.send(frame);
      cut(exchange);
    });
    expect(failureOf(outcome).code).toBe('provider_error');
    expect(outcome.events.map((event) => event.type)).not.toContain('tool_call');
  });

  it('never reports a tool call of a response without its closing event', async () => {
    const outcome = await call((exchange) => exchange.sendAll(wire.toolCall(TOOL).slice(0, -1)));
    expect(failureOf(outcome).code).toBe('provider_error');
    expect(outcome.events.map((event) => event.type)).not.toContain('tool_call');
  });

  it('never reports a tool call that the token limit has cut off', async () => {
    const outcome = await call((exchange) => exchange.sendAll(wire.cutOffToolCall));
    expect(outcome.thrown).toBeUndefined();
    expect(outcome.events.map((event) => event.type)).not.toContain('tool_call');
    expect(outcome.events.at(-1)).toMatchObject({ type: 'stopped', reason: 'max_tokens' });
  });

  it('reports a complete tool call that cannot be made, with the text of its arguments if the provider names the tool', async () => {
    const outcome = await call((exchange) => exchange.sendAll(wire.unreadableToolCall));
    expect(outcome.thrown).toBeUndefined();
    const malformed = { type: 'tool_call', call: { id: 't1', name: 'look_up', input: {}, malformedInput: '{"city":' } };
    expect(said(outcome).slice(-2)[0]).toEqual(
      wire.provider === 'gemini' ? { type: 'unreadable_call', written: '' } : malformed,
    );
  });

  it('truncates long arguments that are not a JSON object', async () => {
    const long = JSON.stringify(['x'.repeat(10_000)]);
    const outcome = await call((exchange) => exchange.sendAll(wire.toolCall({ ...TOOL, inputParts: [long] })));
    expect(said(outcome).at(-2)).toMatchObject({ call: { malformedInput: `${long.slice(0, 500)}…` } });
  });

  it('fails the call to a provider that sends no response', async () => {
    const pending = call(() => undefined);
    await clock.untilPending();
    await clock.advance(IDLE_MS);
    const failure = failureOf(await pending);
    expect({ code: failure.code, retryable: failure.facts.retryable }).toEqual({
      code: 'provider_error',
      retryable: false,
    });
  });

  it('fails the call to a provider that stops sending within its response, and closes the connection', async () => {
    let disconnected: Promise<void> | undefined;
    upstream.respond(async (exchange) => {
      disconnected = exchange.disconnected;
      for (const frame of firstText()) await exchange.send(frame);
    });
    const events = runtime.stream(requestOf(wire), new AbortController().signal)[Symbol.asyncIterator]();
    expect(await nextSaid(events)).toMatchObject({ value: { type: 'text', text: 'so far' } });
    const next = nextSaid(events).catch((error: unknown) => error);
    await clock.advance(IDLE_MS - 1);
    await clock.advance(1 + IDLE_MS);
    expect(await next).toMatchObject({ name: 'ModelFailure', code: 'provider_error' });
    await disconnected;
  });

  it('a slow reader does not count as a silent provider', async () => {
    upstream.respond((exchange) => exchange.sendAll(wire.text(['one', 'two'])));
    const events = runtime.stream(requestOf(wire), new AbortController().signal)[Symbol.asyncIterator]();
    await events.next();
    await clock.advance(IDLE_MS * 3);
    const rest: unknown[] = [];
    for (let next = await events.next(); next.done !== true; next = await events.next()) rest.push(next.value);
    expect(rest.at(-1)).toMatchObject({ type: 'stopped', reason: 'end' });
  });

  it.each([
    ['before the answer', 0],
    ['within the answer', 1],
  ])('an abort %s closes the socket and throws the reason', async (_when, frames) => {
    const controller = new AbortController();
    const reason = new Error('the user left');
    const disconnected = new Promise<void>((resolve) => {
      upstream.respond(async (exchange) => {
        for (const frame of frames === 0 ? [] : firstText()) await exchange.send(frame);
        controller.abort(reason);
        await exchange.disconnected;
        resolve();
      });
    });
    const outcome = await callRuntime(runtime, requestOf(wire), controller.signal);
    expect(outcome.thrown).toBe(reason);
    await disconnected;
  });

  it('throws the reason at once if the signal has aborted before', async () => {
    const reason = new Error('too late');
    const outcome = await callRuntime(runtime, requestOf(wire), AbortSignal.abort(reason));
    expect(outcome).toEqual({ events: [], thrown: reason });
    expect(upstream.requests).toHaveLength(0);
  });

  it('a reader that leaves early closes the socket', async () => {
    const left = new Promise<void>((resolve) => {
      upstream.respond(async (exchange) => {
        for (const frame of firstText()) await exchange.send(frame);
        await exchange.disconnected;
        resolve();
      });
    });
    for await (const event of runtime.stream(requestOf(wire), new AbortController().signal)) {
      if (event.type === 'text') break;
    }
    await left;
  });

  it('consecutive calls share connections, and leave no timer and no listener', async () => {
    const controller = new AbortController();
    upstream.respond((exchange) => exchange.sendAll(wire.text(['ok'])));
    for (let turn = 0; turn < 12; turn += 1) await callRuntime(runtime, requestOf(wire), controller.signal);
    expect({ requests: upstream.requests.length, timers: clock.pending() }).toEqual({ requests: 12, timers: 0 });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    // The second call may start before the first one's connection is free again.
    expect(upstream.connections).toBeLessThanOrEqual(2);
  });

  it('a complete answer is valid although its response never ends', async () => {
    const pending = call(async (exchange) => {
      for (const frame of wire.text(['done'])) await exchange.send(frame);
    });
    // The idle limit and, once the closing event is in, the drain limit.
    await clock.untilPending(2);
    await clock.advance(DRAIN_MS);
    const outcome = await pending;
    expect(outcome.thrown).toBeUndefined();
    expect(outcome.events.at(-1)).toMatchObject({ type: 'stopped', reason: 'end' });
  });
});
