import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { type TestService, until } from '../../support/harness.js';
import { HookServer } from '../../support/hook-server.js';
import type { ReceivedSpan } from '../../support/otlp-receiver.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, output, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';
import { usePushingService } from './pushing-service.js';

const pushing = usePushingService();
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

let hooks: HookServer;
beforeAll(async () => {
  hooks = await HookServer.start();
});
afterAll(() => hooks.close());

/** Id and model of the responses of the scripted model. */
const ANSWER = { 'gen_ai.response.id': 'msg_1', 'gen_ai.response.model': 'm' };

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
    const { talk, runId } = await runOfAllKinds(pushing.service);
    await pushing.push([runId]);
    await pushing.pushed();

    const { body: trace } = await pushing.service.http<{
      startedAt: string;
      latencyMs: number;
      model: string;
      steps: { startedAt: string; latencyMs: number }[];
    }>('GET', `/v1/agents/${talk.agentId}/traces/${runId}`, { key: talk.key });
    const spans = pushing.backend.traceSpans(runId);
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

    const [request] = pushing.backend.received;
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
    const capturing = await pushing.start({ OTEL_CAPTURE_CONTENT: 'true', OTEL_SERVICE_NAME: 'agents-eu' });
    try {
      const { runId } = await runOfAllKinds(capturing);
      await pushing.push([runId], capturing);
      await until(() => pushing.backend.traceSpans(runId).length > 0, 'the trace is pushed');
      const sent = JSON.stringify(pushing.backend.traceSpans(runId).map(({ attributes }) => attributes));
      const { prompt, ...captured } = CANARIES;
      for (const canary of Object.values(captured)) expect(sent).toContain(canary);
      expect(sent).not.toContain(prompt);
      expect(sent).not.toContain('canary-key');
      expect(pushing.backend.traceSpans(runId)[0]?.resource).toMatchObject({ 'service.name': 'agents-eu' });
    } finally {
      await capturing.close();
    }
  });

  it('is a child of the span that the request named, on every route that starts a run', async () => {
    const talk = await Talk.start(pushing.service);
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
      pushing.service.models.next(says('Hello.'));
      expect(await pushing.service.http('POST', path, { key: talk.key, body, headers })).toMatchObject({ status: 200 });
    }
    const { body } = await pushing.service.http<{ traces: { id: string }[] }>(
      'GET',
      `/v1/agents/${talk.agentId}/traces`,
      {
        key: talk.key,
      },
    );
    await pushing.push(body.traces.map(({ id }) => id));
    await pushing.pushed();
    const spans = pushing.backend.received.flatMap((request) => request.spans);
    const runs = spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(runs.map(({ traceId, parentSpanId }) => ({ traceId, spanId: parentSpanId }))).toEqual(
      requests.map(() => parent),
    );
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([parent.traceId]));
  });

  it('that two organizations share leaves out the spans of the one under HIPAA', async () => {
    const headers = { traceparent: `00-${newId().replaceAll('-', '')}-b7ad6b7169203331-01` };
    const talks = [await Talk.start(pushing.service), await Talk.start(pushing.service, {}, '--features', 'hipaa')];
    const ids: string[] = [];
    for (const talk of talks) {
      pushing.service.models.next(says('Hello.'));
      const { body } = await pushing.service.http<{ run: { id: string } }>('POST', `${talk.path}/runs`, {
        ...{ key: talk.key, headers },
        body: { message: { role: 'user', content: 'Hi' } },
      });
      ids.push(body.run.id);
    }
    await pushing.push(ids);
    await pushing.pushed();
    const organizations = pushing.backend.received.flatMap(({ spans }) =>
      spans.map(({ attributes }) => attributes['agent_service.organization.id']),
    );
    expect(organizations.filter(Boolean)).toEqual([talks[0]?.organization.id]);
  });

  it('is sent together with those of other organizations, without deleted ones and those under HIPAA', async () => {
    const [one, other, deleted] = [await pushing.traced(), await pushing.traced(), await pushing.traced()];
    const closed = await pushing.traced(await Talk.start(pushing.service, {}, '--features', 'hipaa'));
    expect(
      (await pushing.service.http('DELETE', `/v1/threads/${deleted.talk.threadId}`, { key: deleted.talk.key })).status,
    ).toBeLessThan(300);
    await pushing.push([...[one, other, deleted, closed].map(({ runId }) => runId), newId()]);
    await pushing.pushed();
    expect(pushing.backend.received).toHaveLength(1);
    const organizations = pushing.backend.received[0]?.spans
      .map(({ attributes }) => attributes['agent_service.organization.id'])
      .filter(Boolean);
    expect(new Set(organizations)).toEqual(new Set([one.talk.organization.id, other.talk.organization.id]));
    expect([deleted, closed].flatMap(({ runId }) => pushing.backend.traceSpans(runId))).toEqual([]);
  });
});
