import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type OfferedTool, ToolSource } from '../../../src/conversations/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { type Answer, message, useService, type TestOrganization, until } from '../../support/harness.js';
import { breaksOffAfter, calls, refuses, says } from '../../support/scripted-models.js';

@Injectable()
class WeatherTools extends ToolSource {
  offer(): Promise<OfferedTool[]> {
    return Promise.resolve([
      {
        definition: { name: 'weather', description: 'The weather in a city.', inputSchema: { type: 'object' } },
        step: 'tool',
        effect: 'read_only',
        call: ({ city }) => Promise.resolve({ output: `rain in ${String(city)}`, isError: city === 'Atlantis' }),
      },
    ]);
  }
}

@Module({ providers: [WeatherTools], exports: [WeatherTools] })
class WeatherModule {}

interface Ran {
  readonly run: { readonly id: string; readonly createdAt: string; readonly usage: object };
  readonly message: { readonly id: string };
}

interface TraceList {
  readonly traces: readonly [Detail, ...Detail[]];
  readonly meta: Readonly<Record<string, number>>;
}

interface Detail {
  readonly id: string;
  readonly model: string;
  readonly startedAt: string;
  readonly steps: readonly object[];
}

const service = useService({ extensions: { imports: [WeatherModule], toolSources: [WeatherTools] } });

interface Place extends TestOrganization {
  readonly agentId: string;
  readonly threadId: string;
  readonly traces: string;
}

async function place(...options: string[]): Promise<Place> {
  const organization = await service.organization(...options);
  const agentId = await service.agent(organization.key);
  const threadId = await service.thread(organization.key, agentId);
  return { ...organization, agentId, threadId, traces: `/v1/agents/${agentId}/traces` };
}

function run({ key, threadId }: Place, text: string, config: object = {}): Promise<Answer<Ran>> {
  return service.http<Ran>('POST', `/v1/threads/${threadId}/runs`, { key, body: message(text, { config }) });
}

function get<Body = object>(key: string, path: string): Promise<Answer<Body>> {
  return service.http<Body>('GET', path, { key });
}

function list(key: string, path: string): Promise<Answer<TraceList>> {
  return get<TraceList>(key, path);
}

/** One run with a plain reply of the model. */
async function traced(at: Place, text = 'Hi', reply = 'Hello'): Promise<{ runId: string; messageId: string }> {
  service.models.next(says(reply));
  const { body } = await run(at, text);
  return { runId: body.run.id, messageId: body.message.id };
}

const PROVIDER_ERROR = { code: 'provider_error', message: expect.stringContaining('model provider') };

describe('a run has a trace', () => {
  it('with a step for each call of the model and of a tool', async () => {
    const at = await place();
    service.models.next(
      calls('weather', { city: 'Oslo' }),
      calls('weather', { city: 'Atlantis' }, 'second'),
      says('It rains.'),
    );
    const userContext = { userId: 'u-1', premium: true };
    const { body: ran } = await run(at, 'How is the weather?', { userContext });

    const { status, body } = await get<Detail>(at.key, `${at.traces}/${ran.run.id}`);

    expect(status).toBe(200);
    expect(body).toEqual({
      id: ran.run.id,
      agentId: at.agentId,
      threadId: at.threadId,
      messageId: ran.message.id,
      channel: 'api',
      provider: 'anthropic',
      model: expect.any(String),
      status: 'completed',
      startedAt: ran.run.createdAt,
      latencyMs: expect.any(Number),
      timeToFirstTokenMs: expect.any(Number),
      usage: ran.run.usage,
      input: 'How is the weather?',
      output: 'It rains.',
      error: null,
      steps: expect.any(Array),
      reactions: {},
      userContext,
      sessionStartHook: null,
    });
    const anything = expect.anything();
    const startedAt = expect.stringMatching(/^\d{4}-.*Z$/);
    const step = { id: expect.any(String), startedAt, latencyMs: expect.any(Number), error: null };
    const model = {
      ...step,
      type: 'model',
      name: body.model,
      input: anything,
      output: anything,
      response: { id: 'msg_1', model: 'm' },
    };
    const tool = { ...step, type: 'tool', name: 'weather' };
    const usage = { inputTokens: expect.any(Number), outputTokens: expect.any(Number), cachedInputTokens: null };
    expect(body.steps).toEqual([
      { ...model, usage },
      { ...tool, input: { city: 'Oslo' }, output: 'rain in Oslo' },
      { ...model, usage },
      { ...tool, input: { city: 'Atlantis' }, output: 'rain in Atlantis', error: 'rain in Atlantis' },
      { ...model, usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: null } },
    ]);
  });

  it('without userContext if the caller passed none', async () => {
    const at = await place();
    const { runId } = await traced(at);
    const { body } = await get(at.key, `${at.traces}/${runId}`);
    expect(body).not.toHaveProperty('userContext');
  });

  it('even if it failed, or broke off with a part of the reply', async () => {
    const at = await place();
    service.models.next(refuses(400));
    expect((await run(at, 'Fail')).status).toBe(502);
    service.models.next(breaksOffAfter('Half an answ'));
    await run(at, 'Break');
    const { body } = await list(at.key, at.traces);
    expect(body.traces).toMatchObject([
      {
        status: 'failed',
        input: 'Break',
        output: 'Half an answ',
        messageId: expect.any(String),
        error: PROVIDER_ERROR,
      },
      { status: 'failed', input: 'Fail', output: '', messageId: null, error: PROVIDER_ERROR },
    ]);
    const failed = await get(at.key, `${at.traces}/${body.traces[1]?.id ?? ''}`);
    const steps = [{ type: 'model', error: expect.any(String) }];
    expect(failed.body).toMatchObject({ timeToFirstTokenMs: null, steps, error: PROVIDER_ERROR });
  });

  it('without any API key of the service or the agent', async () => {
    const organization = await service.organization();
    const agentId = await service.agent(organization.key, {
      provider: { type: 'anthropic', useOwnApiKey: true, apiKey: 'own-canary-key' },
    });
    const threadId = await service.thread(organization.key, agentId);
    const at = { ...organization, agentId, threadId, traces: `/v1/agents/${agentId}/traces` };
    await traced(at);
    service.models.next(refuses(401));
    await run(at, 'Refused');
    const rows = await service.database.query('select * from traces where agent_id = $1', [agentId]);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/canary|managed-anthropic/);
  });
});

describe('the list of traces', () => {
  it('shows summaries newest first, with the first 200 characters, page by page', async () => {
    const at = await place();
    const first = await traced(at, '😀'.repeat(201), 'One');
    const second = await traced(at, 'Second', '😀'.repeat(201));
    const third = await traced(at, 'Third');

    const page = await list(at.key, `${at.traces}?page=1&limit=2`);
    const last = await list(at.key, `${at.traces}?page=2&limit=2`);
    const beyond = await list(at.key, `${at.traces}?page=3&limit=2`);

    expect(page.status).toBe(200);
    expect(page.body.meta).toEqual({ page: 1, limit: 2, totalItems: 3, totalPages: 2 });
    expect(page.body.traces.map(({ id }) => id)).toEqual([third.runId, second.runId]);
    expect(page.body.traces[1]).toEqual({
      id: second.runId,
      agentId: at.agentId,
      threadId: at.threadId,
      messageId: second.messageId,
      channel: 'api',
      provider: 'anthropic',
      model: expect.any(String),
      status: 'completed',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      latencyMs: expect.any(Number),
      usage: {
        ...{ inputTokens: 11, outputTokens: 7, totalTokens: 18, cachedInputTokens: null },
        credits: expect.any(Number),
      },
      input: 'Second',
      output: '😀'.repeat(200),
      error: null,
    });
    expect(last.body.traces).toMatchObject([{ id: first.runId, input: '😀'.repeat(200) }]);
    expect(beyond.body).toEqual({ traces: [], meta: { page: 3, limit: 2, totalItems: 3, totalPages: 2 } });
  });

  it('is empty for an agent without runs, with the defaults', async () => {
    const at = await place();
    expect((await get(at.key, at.traces)).body).toEqual({
      traces: [],
      meta: { page: 1, limit: 50, totalItems: 0, totalPages: 0 },
    });
  });

  it('can be filtered by conversation and by time', async () => {
    const at = await place();
    const other = { ...at, threadId: await service.thread(at.key, at.agentId) };
    const here = await traced(at);
    const there = await traced(other);
    const early = (await list(at.key, at.traces)).body.traces[1];

    const ids = async (query: string): Promise<string[]> =>
      (await list(at.key, `${at.traces}?${query}`)).body.traces.map(({ id }) => id);
    expect(await ids(`sessionId=${at.threadId}`)).toEqual([here.runId]);
    expect(await ids(`sessionId=${at.threadId.toUpperCase()}`)).toEqual([here.runId]);
    expect(await ids(`sessionId=${newId()}`)).toEqual([]);
    expect(await ids(`toTimestamp=${early?.startedAt ?? ''}`)).toEqual([here.runId]);
    expect(await ids(`fromTimestamp=1970-01-01T00:00:00Z`)).toEqual([there.runId, here.runId]);
    expect(await ids(`fromTimestamp=9999-12-31T23:59:59-23:59`)).toEqual([]);
    expect(await ids(`toTimestamp=9999-12-31T23:59:59-23:59`)).toEqual([there.runId, here.runId]);
    expect(await ids(`toTimestamp=0000-01-01T00:00:00Z`)).toEqual([]);
  });

  it.each([
    ['page=0', 'page'],
    ['page=one', 'page'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['sessionId=abc', 'sessionId'],
    ['fromTimestamp=yesterday', 'fromTimestamp'],
    ['toTimestamp=2026-02-30T00:00:00Z', 'toTimestamp'],
    ['fromTimestamp=2026-03-02T00:00:00Z&toTimestamp=2026-03-01T23:59:59.999Z', 'fromTimestamp'],
    ['sort=asc', 'sort'],
  ])('refuses ?%s and names the field', async (query, field) => {
    const at = await place();
    const { status, body } = await get(at.key, `${at.traces}?${query}`);
    expect(status).toBe(400);
    expect(body).toEqual({
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'bad_request',
      message: expect.stringContaining(field),
    });
  });

  it('accepts any page number', async () => {
    const at = await place();
    await traced(at);
    expect(await list(at.key, `${at.traces}?page=${Number.MAX_SAFE_INTEGER}&limit=100`)).toMatchObject({
      status: 200,
      body: { traces: [] },
    });
  });
});

describe('one trace', () => {
  it('is the same 404 if it is absent, of another agent or of another organization', async () => {
    const at = await place();
    const { runId: foreign } = await traced(await place());
    const sibling = await service.agent(at.key);
    const { runId: own } = await traced(at);

    const absent = await get(at.key, `${at.traces}/${newId()}`);
    expect(absent.status).toBe(404);
    expect(absent.body).toEqual({ statusCode: 404, error: 'not_found', message: expect.any(String) });
    for (const path of [`${at.traces}/${foreign}`, `/v1/agents/${sibling}/traces/${own}`]) {
      const answer = await get(at.key, path);
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 404, text: absent.text });
    }
  });

  it("cannot be read with another organization's agent id, on any route", async () => {
    const at = await place();
    const foreign = await place();
    const { runId, messageId } = await traced(foreign);
    for (const rest of ['traces', `traces/${runId}`, `messages/${messageId}/trace`]) {
      const answer = await get(at.key, `/v1/agents/${foreign.agentId}/${rest}`);
      const absent = await get(at.key, `/v1/agents/${newId()}/${rest}`);
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 404, text: absent.text });
    }
  });

  it('is refused to a key whose allowlist lacks the agent, and needs no capability', async () => {
    const at = await place();
    const { runId } = await traced(at);
    const elsewhere = await at.keyWith(['chat'], [await service.agent(at.key)]);
    const here = await at.keyWith(['manageApiKeys'], [at.agentId]);
    for (const path of [at.traces, `${at.traces}/${runId}`]) {
      const body = { code: 'forbidden_by_agent_allowlist' };
      expect(await get(elsewhere.key, path)).toMatchObject({ status: 403, body });
      expect((await get(here.key, path)).status).toBe(200);
      expect((await service.http('GET', path)).status).toBe(401);
    }
  });

  it('is a 400 for an id that is not a UUID', async () => {
    const at = await place();
    for (const path of [`${at.traces}/abc`, '/v1/agents/abc/traces', `/v1/agents/${at.agentId}/messages/abc/trace`]) {
      expect(await get(at.key, path)).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
    }
  });

  it('has no sessionStartHook for an organization without the feature', async () => {
    const at = await place('--features', '-session_start_hook');
    const { runId } = await traced(at);
    const { status, body } = await get(at.key, `${at.traces}/${runId}`);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('sessionStartHook');
  });

  it('is deleted with its agent', async () => {
    const at = await place();
    await traced(at);
    expect((await service.http('DELETE', `/v1/agents/${at.agentId}`, { key: at.key })).status).toBe(200);
    await until(
      async () => (await service.database.query('select 1 from traces where agent_id = $1', [at.agentId])).length === 0,
      'they go',
    );
  });
});

describe('the trace of a message', () => {
  it('is the same as by the id of the trace', async () => {
    const at = await place();
    const { runId, messageId } = await traced(at);
    const byMessage = await get(at.key, `/v1/agents/${at.agentId}/messages/${messageId}/trace`);
    expect(byMessage.status).toBe(200);
    expect(byMessage.body).toEqual((await get(at.key, `${at.traces}/${runId}`)).body);
  });

  it("is absent for a user's message, another agent's message, an unknown one and after 90 days", async () => {
    const at = await place();
    const old = await traced(at);
    const other = await traced({ ...at, ...(await otherAgent(at)) });
    const { body } = await get<{ messages: [{ id: string }] }>(at.key, `/v1/threads/${at.threadId}/messages`);
    const aging = `update traces set started_at = now() - interval '90 days 1 minute' where id = $1`;
    await service.database.query(aging, [old.runId]);
    for (const messageId of [body.messages[0].id, other.messageId, newId(), old.messageId]) {
      expect(await get(at.key, `/v1/agents/${at.agentId}/messages/${messageId}/trace`)).toMatchObject({
        status: 404,
        body: { statusCode: 404, error: 'not_found' },
      });
    }
    expect((await get(at.key, `${at.traces}/${old.runId}`)).status).toBe(404);
    expect((await list(at.key, at.traces)).body.meta['totalItems']).toBe(0);
  });

  async function otherAgent(at: Place): Promise<{ agentId: string; threadId: string }> {
    const agentId = await service.agent(at.key);
    return { agentId, threadId: await service.thread(at.key, agentId) };
  }
});

describe('HIPAA data handling', () => {
  it('refuses every read of traces, and nothing else', async () => {
    const at = await place('--features', 'hipaa');
    const { runId, messageId } = await traced(at);
    const one = `traces/${runId}`;
    for (const rest of ['traces', 'traces?page=0', one, `traces/${newId()}`, `messages/${messageId}/trace`]) {
      const { status, body } = await get(at.key, `/v1/agents/${at.agentId}/${rest}`);
      expect({ status, body }).toEqual({
        status: 403,
        body: {
          statusCode: 403,
          code: 'forbidden_trace_access_for_hipaa_agent',
          error: 'forbidden',
          message: expect.any(String),
        },
      });
    }
    expect((await get(at.key, `/v1/agents/${newId()}/traces`)).status).toBe(404);
  });
});

describe('the limit', () => {
  it('counts the list and the message trace of an organization together, in the headers of every response', async () => {
    const at = await place();
    const other = await place();
    const { runId, messageId } = await traced(at);
    const paths = [at.traces, `/v1/agents/${at.agentId}/messages/${messageId}/trace`, `${at.traces}?page=0`];
    const answers: Answer<object>[] = [];
    for (let request = 0; request < 31; request += 1) answers.push(await get(at.key, paths[request % paths.length]!));

    expect(answers.map(({ headers }) => Number(headers.get('ratelimit-remaining')))).toEqual([
      ...Array.from({ length: 30 }, (_, index) => 29 - index),
      0,
    ]);
    const refused = answers.at(-1)!;
    expect(answers.slice(0, 30).map(({ status }) => status)).not.toContain(429);
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ statusCode: 429, error: 'too_many_requests', message: expect.any(String) });
    expect(refused.headers.get('ratelimit-limit')).toBe('30');
    expect(Number(refused.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);

    const single = await get(at.key, `${at.traces}/${runId}`);
    expect(single.status).toBe(200);
    expect(single.headers.get('ratelimit-limit')).toBeNull();
    expect((await get(other.key, other.traces)).status).toBe(200);
  });
});
