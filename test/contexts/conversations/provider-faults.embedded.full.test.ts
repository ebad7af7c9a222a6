import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EventSchema } from '@ag-ui/core/schemas';
import { type Answer, startService, type StreamedEvent, type TestService, until } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { breaksOffAfter, HeldReply, type ModelScript, refuses, says } from '../../support/scripted-models.js';
import { REFUSED_URL } from '../../support/fake-upstream.js';
import { endOf, Talk, textOf } from '../../support/talk.js';

/** The longest pauses before the two retries, when the provider asks for none. */
const BACKOFF_MS = [500, 1_000];
const IDLE_LIMIT_MS = 120_000;

const clock = new ManualClock();
let service: TestService;
/** A service whose provider addresses refuse connections. */
let offline: TestService;
/** A service without managed keys. */
let keyless: TestService;

beforeAll(async () => {
  service = await startService({ clock });
  const nowhere = REFUSED_URL;
  const [ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GEMINI_BASE_URL] = [nowhere, nowhere, nowhere];
  offline = await startService({ clock, environment: { ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GEMINI_BASE_URL } });
  keyless = await startService({ environment: { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GEMINI_API_KEY: '' } });
});
afterAll(async () => {
  await Promise.all([service.close(), offline.close(), keyless.close()]);
});
beforeEach(() => {
  service.models.reset();
});

/** Ends the pause before each of the two retries at once. */
async function wakeRetries(waits: readonly number[] = BACKOFF_MS): Promise<void> {
  for (const ms of waits) {
    await until(() => clock.sleeping() > 0, 'a further try waits');
    await clock.advance(ms);
  }
}

interface Seen {
  /** The response of the waiting route. */
  readonly answer: Answer;
  /** The last event of the streaming route. */
  readonly end: StreamedEvent['event'];
}

describe.each(AGENT_WIRES)('$provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };
  const ownKeyAgent = { provider: { ...agent.provider, useOwnApiKey: true, apiKey: 'own-canary-key' } };

  /** Runs the same fault on both routes, and checks what must hold after any fault. */
  async function fault(
    scripts: readonly ModelScript[],
    {
      on = service,
      settings = agent,
      duringRun = () => Promise.resolve(),
    }: {
      on?: TestService;
      settings?: Readonly<Record<string, unknown>>;
      duringRun?: () => Promise<void>;
    } = {},
  ): Promise<Seen & { waited: Talk; streamed: Talk; events: StreamedEvent[] }> {
    const waited = await Talk.start(on, settings);
    on.models.next(...scripts);
    const [answer] = await Promise.all([waited.run<Record<string, unknown>>('Hi'), duringRun()]);
    const streamed = await waited.another();
    on.models.next(...scripts);
    const [events] = await Promise.all([streamed.streamed('Hi'), duringRun()]);
    const end = endOf(events);
    expect(end.type).toBe('RUN_ERROR');
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(JSON.stringify([answer.text, events])).not.toMatch(/scripted refusal|managed-|canary/);
    for (const talk of [waited, streamed]) {
      expect((await talk.messages())[0]).toMatchObject({ role: 'user', content: 'Hi', status: 'completed' });
      expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: end['code'] } });
    }
    expect(await waited.trace()).toMatchObject({
      status: 'failed',
      steps: [{ type: 'model', error: expect.any(String) }],
    });
    return { answer, end, waited, streamed, events };
  }

  /** Checks that the next message on the thread works. */
  async function expectUsable(...talks: readonly Talk[]): Promise<void> {
    for (const talk of talks) {
      service.models.next(says('Back'));
      expect(await talk.run('Again')).toMatchObject({ status: 200, body: { message: { content: 'Back' } } });
    }
  }

  it('that limits requests is retried twice, then the answer is 503 with Retry-After', async () => {
    const limited = refuses(429, { 'retry-after': '3' });
    const { answer, end, waited, streamed } = await fault([limited, limited, limited], {
      duringRun: () => wakeRetries([3_000, 3_000]),
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('3');
    expect(answer.body).toEqual({
      statusCode: 503,
      code: 'provider_rate_limited',
      error: 'service_unavailable',
      message: expect.any(String),
    });
    expect(end).toMatchObject({ code: 'provider_rate_limited' });
    expect(service.models.requests).toHaveLength(6);
    expect(service.models.unexpected).toEqual([]);
    await expectUsable(waited, streamed);
  });

  it('that asks for a pause before a retry gets it', async () => {
    const talk = await Talk.start(service, agent);
    service.models.next(refuses(429, { 'retry-after': '7' }), says('Now'));
    const running = talk.run('Hi');
    await until(() => clock.sleeping() > 0, 'the further try waits');
    await clock.advance(6_999);
    expect(service.models.requests).toHaveLength(1);
    await clock.advance(1);
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Now' } } });
  });

  it.each([
    ['is overloaded', wire.api === 'anthropic' ? 529 : 503, 503, 'provider_overloaded'],
    ['fails', 500, 502, 'provider_error'],
  ])('that %s is retried twice, then the caller gets the error', async (_what, status, answered, code) => {
    const refusal = refuses(status);
    const { answer, end, waited, streamed } = await fault([refusal, refusal, refusal], {
      duringRun: () => wakeRetries(),
    });
    expect(answer).toMatchObject({ status: answered, body: { statusCode: answered, code } });
    expect(answer.headers.get('retry-after') !== null).toBe(answered === 503);
    expect(end).toMatchObject({ code });
    expect(service.models.requests).toHaveLength(6);
    await expectUsable(waited, streamed);
  });

  it('that refuses connections is retried twice, then the answer is 502', async () => {
    const { answer, end } = await fault([], { on: offline, duringRun: () => wakeRetries() });
    expect(answer).toMatchObject({
      status: 502,
      body: { statusCode: 502, code: 'provider_error', error: 'bad_gateway' },
    });
    expect(end).toMatchObject({ code: 'provider_error' });
  });

  it('that refuses the managed key causes 502, without a retry', async () => {
    const { answer, end, waited, streamed } = await fault([refuses(401)]);
    expect(answer).toMatchObject({
      status: 502,
      body: { statusCode: 502, code: 'provider_auth', error: 'bad_gateway' },
    });
    expect(end).toMatchObject({ code: 'provider_auth' });
    expect(service.models.requests).toHaveLength(2);
    await expectUsable(waited, streamed);
  });

  it("that refuses the agent's own key causes 422", async () => {
    const { answer, end, waited, streamed } = await fault([refuses(401)], { settings: ownKeyAgent });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ error: 'unprocessable_entity', message: expect.any(String) });
    expect(end).toMatchObject({ code: 'provider_auth' });
    expect(service.models.requests.map(({ headers }) => wire.keyOf(headers))).toEqual([
      'own-canary-key',
      'own-canary-key',
    ]);
    await expectUsable(waited, streamed);
  });

  it('that finds the conversation too long causes 422', async () => {
    const { status, body } = wire.contextTooLong;
    const { answer, end, waited, streamed } = await fault([
      (exchange) => {
        exchange.refuse(status, body);
      },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ error: 'unprocessable_entity', message: expect.any(String) });
    expect(end).toMatchObject({ code: 'context_too_long' });
    await expectUsable(waited, streamed);
  });

  const cutOff: readonly [string, ModelScript][] = [
    [
      'ends its answer early',
      async (exchange) => exchange.sendAll(wire.text(['Half an ', 'answer']).slice(0, -1).slice(0, cutAfter('answer'))),
    ],
    ['breaks off its answer', breaksOffAfter('Half an ', 'answer')],
    ['sends a chunk that is no JSON', async (exchange) => exchange.sendAll([...beginning(), wire.malformed])],
    ['reports an error within its answer', async (exchange) => exchange.sendAll([...beginning(), wire.reportedError])],
  ];

  function cutAfter(text: string): number {
    return wire.text(['Half an ', 'answer']).findIndex((frame) => frame.includes(text)) + 1;
  }

  function beginning(): string[] {
    return wire.text(['Half an ', 'answer']).slice(0, cutAfter('answer'));
  }

  it.each(cutOff)('that %s leaves the text so far as incomplete, with the reported usage', async (_what, script) => {
    const { answer, end, waited, streamed, events } = await fault([script]);
    expect(answer).toMatchObject({ status: 502, body: { code: 'provider_error' } });
    expect(end).toMatchObject({ code: 'provider_error' });
    expect(textOf(events)).toBe('Half an answer');
    expect(service.models.requests).toHaveLength(2);
    for (const talk of [waited, streamed]) {
      expect((await talk.messages())[1]).toMatchObject({ content: 'Half an answer', status: 'incomplete' });
    }
    const reported = wire.api === 'anthropic' ? { inputTokens: 1, credits: 0.0002 } : { inputTokens: null, credits: 0 };
    expect(await waited.trace()).toMatchObject({ usage: { ...reported, outputTokens: null, totalTokens: null } });
    await expectUsable(waited, streamed);
  });

  it('that stops sending is abandoned at the idle limit', async () => {
    const silence: ModelScript = async (exchange) => {
      for (const frame of beginning()) await exchange.send(frame);
    };
    const talk = await Talk.start(service, agent);
    service.models.next(silence);
    const events: StreamedEvent[] = [];
    for await (const streamed of talk.stream('Hi')) {
      events.push(streamed);
      if (textOf(events) === 'Half an answer') await clock.advance(IDLE_LIMIT_MS);
    }
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'provider_error' });
    expect((await talk.messages())[1]).toMatchObject({ content: 'Half an answer', status: 'incomplete' });
    await expectUsable(talk);
  });

  it("that takes longer than the agent's timeoutMinutes is abandoned: run_timeout, and the socket is closed", async () => {
    const slow = { ...agent, timeoutMinutes: 1 };
    const talk = await Talk.start(service, slow);
    const [waited, streamed] = [new HeldReply(['Half an answer']), new HeldReply(['Half an answer'])];
    service.models.next(waited.script);
    const answer = talk.run<Record<string, unknown>>('Hi');
    const exchange = await waited.asked;
    await clock.advance(60_000);
    expect(await answer).toMatchObject({
      status: 504,
      body: { statusCode: 504, code: 'run_timeout', error: 'gateway_timeout' },
    });
    await exchange.disconnected;
    expect(await talk.storedRun()).toMatchObject({ status: 'timed_out', error: { code: 'run_timeout' } });

    service.models.next(streamed.script);
    const events: StreamedEvent[] = [];
    for await (const event of talk.stream('Hi')) {
      events.push(event);
      if (textOf(events) === 'Half an answer') await clock.advance(60_000);
    }
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'run_timeout' });
    expect((await talk.messages())[3]).toMatchObject({ content: 'Half an answer', status: 'incomplete' });
    expect(await talk.trace()).toMatchObject({ status: 'timed_out', usage: { totalTokens: null } });
    for (const held of [waited, streamed]) held.finish();
    await expectUsable(talk);
  });

  it('without a key is 422 on both routes, as JSON, before anything is stored', async () => {
    const talk = await Talk.start(keyless, agent);
    for (const route of ['runs', 'runs/stream']) {
      const body = { message: { role: 'user', content: 'Hi' } };
      const answer = await keyless.http('POST', `${talk.path}/${route}`, { key: talk.key, body });
      expect(answer.status).toBe(422);
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(answer.body).toEqual({ error: 'unprocessable_entity', message: expect.stringContaining(wire.api) });
    }
    expect(await talk.messages()).toEqual([]);
    expect(await talk.storedRun()).toBeUndefined();
    const own = await Talk.start(keyless, ownKeyAgent);
    keyless.models.next(says('Mine'));
    expect(await own.run('Hi')).toMatchObject({ status: 200, body: { message: { content: 'Mine' } } });
  });
});
