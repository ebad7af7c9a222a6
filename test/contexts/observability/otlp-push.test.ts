import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PublishTraces } from '../../../src/observability/application/publish-traces.js';
import { pushTraces } from '../../../src/observability/jobs/push-traces.job.js';
import { PUBLISH_AFTER_MS } from '../../../src/observability/limits.js';
import { newId } from '../../../src/platform/ids/index.js';
import { Outbox } from '../../../src/platform/jobs/index.js';
import { startService, type TestService, until } from '../../support/harness.js';
import { HookServer } from '../../support/hook-server.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { acceptWithout, type BackendAnswer, OtlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';

const HEADERS = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20push-secret,x-team=agents,x-scope=push-secret' };
/** One for each source of contents. */
const CANARIES = {
  prompt: 'canary-prompt',
  user: 'canary-user',
  reply: 'canary-reply',
  toolInput: 'canary-tool-input',
  toolOutput: 'canary-tool-output',
  query: 'canary-query',
  found: 'canary-found',
  hook: 'canary-hook',
  context: 'canary-context',
};

/** Secrets of the headers, as set and as sent, that must be in no log line and no job. */
const SECRET = 'push-secret';

const clock = new ShiftedClock();
const lines: string[] = [];
let backend: OtlpReceiver;
let hooks: HookServer;
let service: TestService;

function start(environment: Record<string, string> = {}): Promise<TestService> {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, ...HEADERS, ...environment };
  const log = { write: (line: string) => void lines.push(line) };
  return startService({
    environment: { LOG_LEVEL: 'debug', ...all },
    extensions: scriptedRuns,
    egressAllow: new LoopbackPorts(),
    clock,
    log,
  });
}

beforeAll(async () => {
  [backend, hooks] = await Promise.all([OtlpReceiver.start(), HookServer.start()]);
  service = await start();
});
afterAll(async () => {
  await service.close();
  await Promise.all([backend.close(), hooks.close()]);
});
beforeEach(() => {
  service.models.reset();
  backend.reset();
});

async function push(...traceIds: string[]): Promise<void> {
  await service.database.transaction((transaction) =>
    service.app.get(Outbox).enqueue(transaction, pushTraces, { traceIds }),
  );
}

/** Waits until all pushes have succeeded. */
function pushed(): Promise<void> {
  return until(
    async () => (await service.database.query(`select id from outbox where name = $1`, [pushTraces.name])).length === 0,
    'the traces are pushed',
  );
}

/** Id and model of the responses of the scripted model. */
const ANSWER = { 'gen_ai.response.id': 'msg_1', 'gen_ai.response.model': 'm' };

async function traced(on?: Talk): Promise<{ talk: Talk; runId: string }> {
  const talk = on ?? (await Talk.start(service));
  service.models.next(says('Hello.'));
  const { body } = await talk.run('Hi');
  return { talk, runId: body.run.id };
}

interface Dead {
  readonly id: string;
  readonly attempts: number;
  readonly lastError: string;
}

/** A response that quotes the request, of which nothing may be stored. */
function echoing(status: number): BackendAnswer {
  return (response, { headers }) => response.writeHead(status).end(JSON.stringify(headers));
}

async function dead(): Promise<Dead | undefined> {
  return (await service.cli<{ jobs: Dead[] }>('jobs', 'list', '--failed', '--name', pushTraces.name)).jobs[0];
}

/** Resolves when the next connection of this process is refused. */
function refusal(): Promise<void> {
  return new Promise((resolve) => {
    const watch = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      socket.once('error', ({ code }: NodeJS.ErrnoException) => {
        if (code !== 'ECONNREFUSED') return;
        unsubscribe('net.client.socket', watch);
        resolve();
      });
    };
    subscribe('net.client.socket', watch);
  });
}

/** A run with a step of each kind, all of whose texts are canaries. */
async function runOfAllKinds(on: TestService): Promise<{ talk: Talk; runId: string }> {
  const talk = await Talk.start(on, { name: 'Travel desk', systemPrompt: CANARIES.prompt });
  const url = hooks.url(`/${newId()}?key=canary-key`, () => ({ additionalContext: CANARIES.hook }));
  const document = { hooks: { UserPromptSubmit: [{ hooks: [{ type: 'http', url }] }] } };
  expect((await on.http('PUT', `/v1/agents/${talk.agentId}/hooks`, { key: talk.key, body: document })).status).toBe(
    200,
  );
  const search = { ...tool('search', () => output(CANARIES.found)), step: 'retrieval' as const };
  const recall = { ...tool('recall', () => output(CANARIES.found)), step: 'memory' as const };
  const fails = tool('weather', () => Promise.resolve({ output: CANARIES.toolOutput, isError: true }));
  during(talk.threadId, { tools: [fails, search, recall], prompt: [CANARIES.prompt] });
  on.models.next(
    calls('weather', { city: CANARIES.toolInput }, 'call-1'),
    calls('search', { query: CANARIES.query }, 'call-2'),
    calls('recall', { query: CANARIES.query }, 'call-3'),
    says(CANARIES.reply),
  );
  const { status, body } = await talk.run(CANARIES.user, { config: { userContext: { note: CANARIES.context } } });
  expect([status, body.run.status]).toEqual([200, 'completed']);
  return { talk, runId: body.run.id };
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const span = spans.find((each) => each.name === name);
  if (!span) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join(', ')}`);
  return span;
}

describe('a pushed trace', () => {
  it('has a span for the run and one for each step, with ids, times and numbers but no contents', async () => {
    const { talk, runId } = await runOfAllKinds(service);
    await push(runId);
    await pushed();

    const { body: trace } = await service.http<{
      startedAt: string;
      latencyMs: number;
      model: string;
      steps: { startedAt: string; latencyMs: number }[];
    }>('GET', `/v1/agents/${talk.agentId}/traces/${runId}`, { key: talk.key });
    const spans = backend.traceSpans(runId);
    const [run, ...steps] = spans;
    const chat = `chat ${trace.model}`;
    expect(spans.map(({ name }) => name)).toEqual([
      'invoke_agent Travel desk',
      'hook UserPromptSubmit',
      chat,
      'execute_tool weather',
      chat,
      'retrieval search',
      chat,
      'memory recall',
      chat,
    ]);
    expect(run).toMatchObject({
      parentSpanId: '',
      kind: 1,
      status: { code: 0 },
      resource: { 'service.name': 'agent-service', 'service.version': '1.0.0' },
    });
    expect(steps.every(({ parentSpanId }) => parentSpanId === run?.spanId)).toBe(true);
    const nano = (iso: string): bigint => BigInt(Date.parse(iso)) * 1_000_000n;
    const timesOf = ({ startedAt, latencyMs }: { startedAt: string; latencyMs: number }) => [
      nano(startedAt),
      nano(startedAt) + BigInt(latencyMs) * 1_000_000n,
    ];
    expect(spans.map(({ startNano, endNano }) => [startNano, endNano])).toEqual([trace, ...trace.steps].map(timesOf));
    expect(run?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.agent.id': talk.agentId,
      'gen_ai.agent.name': 'Travel desk',
      'gen_ai.conversation.id': talk.threadId,
      'agent_service.organization.id': talk.organization.id,
      'gen_ai.usage.output_tokens': expect.any(Number),
    });
    expect(named(spans, chat)).toMatchObject({
      kind: 3,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': trace.model, ...ANSWER },
    });
    expect(named(spans, 'execute_tool weather')).toMatchObject({
      kind: 1,
      status: { code: 2, message: '' },
      attributes: { 'gen_ai.tool.name': 'weather', 'gen_ai.tool.call.id': 'call-1', 'error.type': 'tool_error' },
    });
    expect(named(spans, 'retrieval search').attributes).toMatchObject({
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.tool.call.id': 'call-2',
    });
    expect(named(spans, 'hook UserPromptSubmit').attributes).toMatchObject({
      'agent_service.hook.outcome': 'ok',
      'server.address': hooks.host.split(':')[0],
    });

    const [request] = backend.received;
    expect(request?.body.toString('latin1')).not.toContain('canary');
    expect(request).toMatchObject({
      path: '/v1/traces',
      headers: {
        authorization: 'Bearer push-secret',
        'x-team': 'agents',
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
      },
    });
  });

  it('has the contents if the operator enables them', async () => {
    const capturing = await start({ OTEL_CAPTURE_CONTENT: 'true', OTEL_SERVICE_NAME: 'agents-eu' });
    try {
      const { runId } = await runOfAllKinds(capturing);
      await capturing.database.transaction((transaction) =>
        capturing.app.get(Outbox).enqueue(transaction, pushTraces, { traceIds: [runId] }),
      );
      await until(() => backend.traceSpans(runId).length > 0, 'the trace is pushed');
      const sent = JSON.stringify(backend.traceSpans(runId).map(({ attributes }) => attributes));
      const { prompt, ...told } = CANARIES;
      for (const canary of Object.values(told)) expect(sent).toContain(canary);
      expect(sent).not.toContain(prompt);
      expect(sent).not.toContain('canary-key');
      expect(backend.traceSpans(runId)[0]?.resource).toMatchObject({ 'service.name': 'agents-eu' });
    } finally {
      await capturing.close();
    }
  });

  it('is a child of the span that the request named, on every route that starts a run', async () => {
    const talk = await Talk.start(service);
    const parent = { traceId: newId().replaceAll('-', ''), spanId: 'b7ad6b7169203331' };
    const headers = { traceparent: `00-${parent.traceId}-${parent.spanId}-01` };
    const user = { role: 'user', content: 'Hi' };
    const agUi = {
      threadId: newId(),
      runId: newId(),
      state: {},
      messages: [{ ...user, id: '1' }],
      tools: [],
      context: [],
      forwardedProps: {},
    };
    const requests: [string, object][] = [
      [`${talk.path}/runs`, { message: user }],
      [`${talk.path}/runs/stream`, { message: user }],
      ['/v1/chat/completions', { assistant_id: talk.agentId, messages: [user] }],
      [`/v1/agents/${talk.agentId}/ag-ui`, agUi],
    ];
    for (const [path, body] of requests) {
      service.models.next(says('Hello.'));
      expect(await service.http('POST', path, { key: talk.key, body, headers })).toMatchObject({ status: 200 });
    }
    const { body } = await service.http<{ traces: { id: string }[] }>('GET', `/v1/agents/${talk.agentId}/traces`, {
      key: talk.key,
    });
    await push(...body.traces.map(({ id }) => id));
    await pushed();
    const spans = backend.received.flatMap((request) => request.spans);
    const runs = spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(runs.map(({ traceId, parentSpanId }) => ({ traceId, spanId: parentSpanId }))).toEqual(
      requests.map(() => parent),
    );
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([parent.traceId]));
  });

  it('that two organizations share leaves out the spans of the one under HIPAA', async () => {
    const headers = { traceparent: `00-${newId().replaceAll('-', '')}-b7ad6b7169203331-01` };
    const talks = [await Talk.start(service), await Talk.start(service, {}, '--features', 'hipaa')];
    const ids: string[] = [];
    for (const talk of talks) {
      service.models.next(says('Hello.'));
      const { body } = await service.http<{ run: { id: string } }>('POST', `${talk.path}/runs`, {
        ...{ key: talk.key, headers },
        body: { message: { role: 'user', content: 'Hi' } },
      });
      ids.push(body.run.id);
    }
    await push(...ids);
    await pushed();
    const organizations = backend.received.flatMap(({ spans }) =>
      spans.map(({ attributes }) => attributes['agent_service.organization.id']),
    );
    expect(organizations.filter(Boolean)).toEqual([talks[0]?.organization.id]);
  });

  it('is sent together with those of other organizations, without deleted ones and those under HIPAA', async () => {
    const [one, other, deleted] = [await traced(), await traced(), await traced()];
    const closed = await traced(await Talk.start(service, {}, '--features', 'hipaa'));
    expect(
      (await service.http('DELETE', `/v1/threads/${deleted.talk.threadId}`, { key: deleted.talk.key })).status,
    ).toBeLessThan(300);
    await push(...[one, other, deleted, closed].map(({ runId }) => runId), newId());
    await pushed();
    expect(backend.received).toHaveLength(1);
    const organizations = backend.received[0]?.spans
      .map(({ attributes }) => attributes['agent_service.organization.id'])
      .filter(Boolean);
    expect(new Set(organizations)).toEqual(new Set([one.talk.organization.id, other.talk.organization.id]));
    expect([deleted, closed].flatMap(({ runId }) => backend.traceSpans(runId))).toEqual([]);
  });
});

it('a trace with unreadable JSON is logged and not pushed, and the others are', async () => {
  const talk = await Talk.start(service);
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) ids.push((await traced(talk)).runId);
  const [, unreadable = '', , unreadableToo = ''] = ids;
  await service.database.query(`update traces set steps = '{}' where id = any($1::uuid[])`, [
    [unreadable, unreadableToo],
  ]);
  await push(...ids);
  await pushed();
  expect(ids.filter((id) => backend.traceSpans(id).length > 0)).toEqual(
    ids.filter((id) => id !== unreadable && id !== unreadableToo),
  );
  for (const id of [unreadable, unreadableToo]) {
    expect(lines.filter((line) => line.includes(`"traceId":"${id}"`))).toEqual([
      expect.stringContaining('"level":"error"'),
    ]);
  }
  expect(await dead()).toBeUndefined();
});

it('a push stops when an organization switches to HIPAA during the first request', async () => {
  const talk = await Talk.start(service);
  const [first, second] = [await traced(talk), await traced(talk)].map(({ runId }) => runId);
  // Each trace is loaded and sent by itself.
  await service.database.query('update traces set stored_bytes = 4000000 where organization_id = $1', [
    talk.organization.id,
  ]);
  backend.next(async (response) => {
    await service.cli('org', 'set', talk.organization.id, '--features', 'hipaa');
    response.writeHead(200).end();
  });
  await push(first ?? '', second ?? '');
  await pushed();
  expect(backend.received).toHaveLength(1);
});

describe('a backend that', () => {
  it.each<[string, BackendAnswer, number]>([
    ['is too busy for a moment is asked again, and has each span once', echoing(503), 2],
    ['takes a part is not asked again', acceptWithout(1), 1],
    ['answers with what is no protobuf has the spans', (response) => response.writeHead(200).end('\u0003garbage'), 1],
  ])('%s', async (_what, answer, requests) => {
    const { runId } = await traced();
    backend.next(answer);
    await push(runId);
    await pushed();
    expect(backend.received).toHaveLength(requests);
    const ids = backend.traceSpans(runId).map(({ spanId }) => spanId);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(await dead()).toBeUndefined();
  });

  it('refuses a request fails the push at once; an operator can repeat it', async () => {
    const { runId } = await traced();
    backend.next(echoing(400));
    await push(runId);
    await until(async () => (await dead()) !== undefined, 'the push job has failed finally');
    const job = await dead();
    expect(job).toMatchObject({
      attempts: 1,
      lastError: expect.stringContaining('The OpenTelemetry backend answered 400'),
    });
    expect(job?.lastError).not.toContain(SECRET);
    await service.cli('jobs', 'retry', job?.id ?? '');
    await pushed();
    expect(backend.traceSpans(runId)).toHaveLength(2);
  });

  it('never answers delays no run, and gets the spans again', async () => {
    const { talk, runId } = await traced();
    const hanging = Promise.withResolvers<() => void>();
    backend.next((response) => hanging.resolve(() => response.destroy()));
    await push(runId);
    const breakOff = await hanging.promise;
    expect((await traced(talk)).runId).not.toBe(runId);
    expect(backend.accepted).toEqual([]);
    breakOff();
    await pushed();
    expect(backend.traceSpans(runId)).toHaveLength(2);
  });

  it('cannot be reached gets every span when it can be reached', async () => {
    const one = await traced();
    const other = await traced();
    await backend.close();
    const refused = refusal();
    await push(one.runId, other.runId);
    await refused;
    await backend.startAgain();
    await pushed();
    for (const { runId } of [one, other])
      expect(new Set(backend.traceSpans(runId).map(({ spanId }) => spanId)).size).toBe(2);
    expect(await dead()).toBeUndefined();
  });
});

describe('publishing', () => {
  const publish = (): Promise<number> => service.app.get(PublishTraces).execute(new AbortController().signal);

  async function exported({ key, agentId }: Talk): Promise<string[]> {
    const { body } = await service.http<{ traces: { id: string }[] }>('GET', `/v1/agents/${agentId}/traces/export`, {
      key,
    });
    return body.traces.map(({ id }) => id);
  }

  it('publishes and enqueues pushes in one transaction, without organizations under HIPAA', async () => {
    const open = await traced();
    const closed = await traced(await Talk.start(service, {}, '--features', 'hipaa'));
    clock.moveOn(PUBLISH_AFTER_MS + 1);
    const outbox = service.app.get(Outbox);
    const enqueue = outbox.enqueue.bind(outbox);
    const enqueued: unknown[] = [];
    const spy = jest.spyOn(outbox, 'enqueue').mockImplementation(async (transaction, job, payload, options) => {
      await enqueue(transaction, job, payload, options);
      if (job.name === pushTraces.name) throw new Error('The transaction fails after the job is in it');
    });
    await expect(publish()).rejects.toThrow('The transaction fails');
    expect(await exported(open.talk)).toEqual([]);
    expect(await service.database.query('select id from outbox where name = $1', [pushTraces.name])).toEqual([]);

    spy.mockImplementation((transaction, job, payload, options) => {
      if (job.name === pushTraces.name) enqueued.push(payload);
      return enqueue(transaction, job, payload, options);
    });
    await publish();
    spy.mockRestore();
    expect(await exported(open.talk)).toEqual([open.runId]);
    expect(JSON.stringify(enqueued)).toContain(open.runId);
    expect(JSON.stringify(enqueued)).not.toContain(closed.runId);
    await pushed();
    expect(backend.traceSpans(open.runId)).toHaveLength(2);
    expect(backend.traceSpans(closed.runId)).toEqual([]);
  });
});

it('no log line has a secret of the headers', () => {
  expect(lines.some((line) => line.includes('Run ended'))).toBe(true);
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
});
