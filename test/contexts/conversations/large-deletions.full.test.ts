import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RemoveAgentData } from '../../../src/agents/jobs/remove-agent-data.job.js';
import { HEARTBEAT_MS } from '../../../src/conversations/engine/limits.js';
import { RemoveDeletedThreads } from '../../../src/conversations/jobs/remove-deleted-threads.job.js';
import { ThreadRemovalRepository } from '../../../src/conversations/persistence/thread-removal.repository.js';
import { message, startService, type TestService, until } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heartbeatsOver } from '../../support/run-owners.js';
import { HeldReply, says } from '../../support/scripted-models.js';
import { endOf, Talk } from '../../support/talk.js';

const CACHES_MS = 5_000;
const CLUSTER = process.env['TEST_MODE'] === 'cluster';
/** Enough for many batches. */
const MANY_THREADS = 3_000;
/** Without an index on the parts of a version, deleting thousands takes more than ten times as long. */
const MAX_DELETION_MS = 2_500;
/** More than a request removes by itself. */
const MANY_MESSAGES = 1_200;

const clock = new ManualClock();
let service: TestService;
let replica: TestService;
let letJobsRun: () => void;
let jobsMayRun: Promise<void>;
let underWay = 0;

/** The job itself, without the queue. */
let removeAgentData: RemoveAgentData['process'];

beforeAll(async () => {
  removeAgentData = hold(RemoveAgentData.prototype);
  hold(RemoveDeletedThreads.prototype);
  service = await startService({ clock });
  replica = await service.replica();
});
afterAll(async () => {
  letJobsRun();
  await replica.close();
  await service.close();
});
beforeEach(() => {
  service.models.reset();
  jobsMayRun = new Promise((resolve) => (letJobsRun = resolve));
});
afterEach(async () => {
  letJobsRun();
  await until(() => underWay === 0, 'no job of this test goes on in the next');
});

/**
 * Makes the job wait for `letJobsRun`, so that the rows are stored until then.
 * @returns the end of the job
 */
function hold<Job>(processor: { process(job: Job): Promise<void> }): (this: unknown, job: Job) => Promise<void> {
  const process = Reflect.get(processor, 'process');
  jest.spyOn(processor, 'process').mockImplementation(async function (this: typeof processor, job) {
    underWay += 1;
    try {
      await jobsMayRun;
      await process.call(this, job);
    } finally {
      underWay -= 1;
    }
  });
  return process;
}

/** After this many threads the removal waits until the returned function is called. */
function keepFromEnding(most: number): () => void {
  let removed = 0;
  const mayEnd = Promise.withResolvers<undefined>();
  const removeThreads = Reflect.get(ThreadRemovalRepository.prototype, 'removeThreads');
  const removing = jest.spyOn(ThreadRemovalRepository.prototype, 'removeThreads').mockImplementation(async function (
    this: ThreadRemovalRepository,
    ids,
  ) {
    removed += ids.length;
    if (removed > most) await mayEnd.promise;
    await removeThreads.call(this, ids);
  });
  return () => {
    removing.mockRestore();
    mayEnd.resolve(undefined);
  };
}

async function rowsOf(talk: Talk): Promise<Record<string, number>> {
  const [row] = await service.database.query<Record<string, number>>(
    `with own as (select id from threads where agent_id = $1)
     select (select count(*)::int from own) as threads,
            (select count(*)::int from messages where thread_id in (select id from own)) as messages,
            (select count(*)::int from runs where agent_id = $1) as runs,
            (select count(*)::int from traces where agent_id = $1) as traces,
            (select count(*)::int from sections where agent_id = $1) as sections,
            (select count(*)::int from agent_versions where agent_id = $1) as versions,
            (select count(*)::int from agent_version_parts where agent_id = $1) as parts`,
    [talk.agentId],
  );
  return row ?? {};
}

const NOTHING = { threads: 0, messages: 0, runs: 0, traces: 0, sections: 0, versions: 0, parts: 0 };

async function untilRows(talk: Talk, expected: Record<string, number>): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (JSON.stringify(await rowsOf(talk)) !== JSON.stringify(expected)) {
    if (Date.now() > deadline) throw new Error(`Still there: ${JSON.stringify(await rowsOf(talk))}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Adds threads to the agent, each with a message, a run and a trace. */
async function addThreads(talk: Talk, count: number): Promise<void> {
  const parameters = [talk.organization.id, talk.agentId, count];
  await service.database.query(
    `with made as (
       insert into threads (id, organization_id, agent_id, channel, created_at, updated_at)
       select gen_random_uuid(), $1, $2, 'api', now(), now() from generate_series(1, $3::int) returning id
     ), run as (
       insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, provider, model,
                         use_own_api_key, created_at)
       select gen_random_uuid(), $1, id, $2, gen_random_uuid(), gen_random_uuid(), 'completed', 'anthropic', 'm', false, now()
       from made returning id, thread_id, message_id
     ), message as (
       insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at)
       select message_id, $1, thread_id, id, 'assistant', 'Hello', 'completed', now() from run
     )
     insert into traces (id, organization_id, agent_id, thread_id, channel, provider, model, status, started_at, latency_ms,
                         credits, input, output, steps, ended_at, stored_bytes)
     select id, $1, $2, thread_id, 'api', 'anthropic', 'm', 'completed', now(), 1, 0, 'Hi', 'Hello', '[]', now(), 7 from run`,
    parameters,
  );
}

async function addMessages(talk: Talk, count: number): Promise<void> {
  await service.database.query(
    `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
     select gen_random_uuid(), $1, $2, 'user', 'Hello', 'completed', now() from generate_series(1, $3::int)`,
    [talk.organization.id, talk.threadId, count],
  );
}

type Request = readonly [method: string, path: string, body?: object, headers?: Record<string, string>];

/** All routes of a thread. */
function requestsOf({ path }: Talk, { runId, messageId }: { runId: string; messageId: string }): Request[] {
  return [
    ['GET', path],
    ['GET', `${path}/messages`],
    ['GET', `${path}/runs/${runId}`],
    ['GET', `${path}/runs/${runId}/stream`],
    ['POST', `${path}/runs/${runId}/cancel`],
    ['POST', `${path}/runs`, message('Hi')],
    ['POST', `${path}/runs`, message('Once'), { 'idempotency-key': 'run' }],
    ['POST', `${path}/runs/stream`, message('Hi')],
    ['PUT', `${path}/messages/${messageId}/reaction`, { reaction: 'liked' }],
  ];
}

async function statusesAt(
  asked: TestService,
  key: string,
  requests: readonly Request[],
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const [method, path, body, headers] of requests) {
    const answer = await asked.fetch(method, path, { key, ...(body ? { body } : {}), ...(headers ? { headers } : {}) });
    await answer.body?.cancel();
    statuses[`${method} ${path}`] = answer.status;
  }
  return statuses;
}

function all(status: number, requests: readonly Request[]): Record<string, number> {
  return Object.fromEntries(requests.map(([method, path]) => [`${method} ${path}`, status]));
}

const agUi = (threadId: string): object => ({
  threadId,
  runId: randomUUID(),
  messages: [{ id: randomUUID(), role: 'user', content: 'Hi' }],
});

/** A completed AG-UI run on the thread with this client id. */
async function sayAs(talk: Talk, clientThread: string): Promise<void> {
  const answer = await service.http('POST', `/v1/agents/${talk.agentId}/ag-ui`, {
    key: talk.key,
    body: agUi(clientThread),
  });
  expect(answer.text).toContain('RUN_FINISHED');
}

/** A conversation with every kind of row that a thread can have. */
async function livelyTalk(): Promise<{ talk: Talk; runId: string; messageId: string; clientThread: string }> {
  const talk = await Talk.start(service);
  const { key } = talk;
  service.models.always(says('Hello'));
  const clientThread = randomUUID();
  await sayAs(talk, clientThread);
  await service.http('POST', '/v1/threads', {
    key,
    body: { assistant_id: talk.agentId },
    headers: { 'idempotency-key': 'made' },
  });
  const { body } = await talk.post(message('Once'), { 'idempotency-key': 'run' });
  const messageId = body.message?.id ?? '';
  await service.http('PUT', `${talk.path}/messages/${messageId}/reaction`, { key, body: { reaction: 'liked' } });
  await service.http('POST', `/v1/agents/${talk.agentId}/sections`, { key, body: { name: 'Tone', content: 'Kind.' } });
  return { talk, runId: body.run.id, messageId, clientThread };
}

describe('a deleted agent', () => {
  it('is absent on every route at once, in other processes within 5 s, while its rows are still being removed', async () => {
    const { talk, clientThread, ...ids } = await livelyTalk();
    const { key, agentId } = talk;
    const agent = `/v1/agents/${agentId}`;
    const requests: Request[] = [
      ...requestsOf(talk, ids),
      ['GET', agent],
      ['GET', `${agent}/versions`],
      ['GET', `${agent}/sections`],
      ['GET', `${agent}/traces`],
      ['GET', `${agent}/traces/${ids.runId}`],
      ['GET', `${agent}/messages/${ids.messageId}/trace`],
      ['POST', `${agent}/ag-ui`, agUi(clientThread)],
      ['POST', '/v1/threads', { assistant_id: agentId }, { 'idempotency-key': 'made' }],
      ['POST', '/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Hi' }] }],
      ['DELETE', talk.path],
      ['DELETE', agent],
    ];
    // The caches of the other process are fresh.
    for (const path of [agent, talk.path, `${talk.path}/messages`])
      expect((await replica.http('GET', path, { key })).status).toBe(200);
    expect((await service.http('DELETE', agent, { key })).status).toBe(200);

    expect(await statusesAt(service, key, requests)).toEqual(all(404, requests));
    expect((await replica.http<{ threads: object[] }>('GET', '/v1/threads', { key })).body.threads).toEqual([]);
    await clock.advance(CACHES_MS);
    expect(await statusesAt(replica, key, requests)).toEqual(all(404, requests));
    expect(await rowsOf(talk)).toMatchObject({
      threads: 3,
      messages: 4,
      runs: 2,
      traces: 2,
      sections: 0,
      versions: 0,
      parts: 0,
    });
    letJobsRun();
    await untilRows(talk, NOTHING);
  });

  it('is as fast with very many threads, and other requests are served during the removal', async () => {
    const [talk, other] = [await Talk.start(service), await Talk.start(service)];
    service.models.always(says('Hello'));
    await addThreads(talk, MANY_THREADS);
    expect((await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key })).status).toBe(200);
    expect(await rowsOf(talk)).toMatchObject({
      threads: MANY_THREADS + 1,
      messages: MANY_THREADS,
      runs: MANY_THREADS,
      traces: MANY_THREADS,
    });
    const left = async (): Promise<number> => (await rowsOf(talk))['threads'] ?? 0;
    const letItEnd = keepFromEnding(MANY_THREADS / 2);
    try {
      letJobsRun();
      await until(async () => (await left()) < MANY_THREADS, 'the removal has begun', { everyMs: 0 });
      expect(await other.run('Hi')).toMatchObject({ status: 200 });
      expect(await left()).toBeGreaterThan(0);
    } finally {
      letItEnd();
    }
    await untilRows(talk, NOTHING);
  });

  it('is removed completely when the job is interrupted and when two jobs run', async () => {
    const talk = await Talk.start(service);
    await addThreads(talk, 350);
    await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key });
    const job = service.app.get(RemoveAgentData, { strict: false });
    const threads = service.app.get(ThreadRemovalRepository, { strict: false });
    const removing = jest.spyOn(threads, 'removeThreads');
    const breaking = new AbortController();
    removing.mockImplementationOnce(async (ids) => {
      breaking.abort(new Error('The process stops'));
      await Promise.resolve(ids);
    });
    const agent = { organizationId: talk.organization.id, agentId: talk.agentId };
    // Without the queue, whose job could remove everything before this one begins.
    await expect(removeAgentData.call(job, activeJob({ agent }, breaking.signal))).rejects.toThrow('The process stops');
    removing.mockRestore();
    await Promise.all([1, 2].map(() => removeAgentData.call(job, activeJob({ agent }))));
    expect(await rowsOf(talk)).toEqual(NOTHING);
  });

  it('is found by the rows it left when its job was lost; rows of other agents stay', async () => {
    const [gone, kept] = [await Talk.start(service), await Talk.start(service)];
    for (const talk of [gone, kept]) await addThreads(talk, 3);
    await service.database.query('delete from agents where id = $1', [gone.agentId]);
    const job = service.app.get(RemoveAgentData, { strict: false });
    await removeAgentData.call(job, activeJob({ agent: null }));
    expect(await rowsOf(gone)).toEqual(NOTHING);
    await removeAgentData.call(
      job,
      activeJob({ agent: { organizationId: kept.organization.id, agentId: kept.agentId } }),
    );
    expect(await rowsOf(kept)).toMatchObject({ threads: 4, messages: 3, runs: 3, traces: 3 });
  });

  it('is deleted with thousands of versions', async () => {
    let took = Infinity;
    // One fast attempt is enough, since the load of the machine varies.
    for (let attempt = 0; attempt < 3 && took >= MAX_DELETION_MS; attempt += 1) took = await deleteWithVersions();
    expect(took).toBeLessThan(MAX_DELETION_MS);
  });

  /** @returns how many milliseconds the deletion took */
  async function deleteWithVersions(): Promise<number> {
    const talk = await Talk.start(service);
    const parameters = [talk.organization.id, talk.agentId, CLUSTER ? 20_000 : 4_000];
    await service.database.query(
      `insert into agent_versions (organization_id, agent_id, version, created_at, changed_by, changes, changes_bytes)
       select $1, $2, n, now(), '{"type": "operator"}', '[]', 2 from generate_series(2, $3::int) n`,
      parameters,
    );
    await service.database.query(
      `insert into agent_version_parts (organization_id, agent_id, version, part, content)
       select $1, $2, n, 'agent', '{}' from generate_series(2, $3::int) n`,
      parameters,
    );
    const began = Date.now();
    expect((await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key })).status).toBe(200);
    const took = Date.now() - began;
    expect(await rowsOf(talk)).toMatchObject({ versions: 0, parts: 0 });
    return took;
  }
});

describe('a deleted thread of very many messages', () => {
  it('is absent on every route at once, in other processes within 5 s, while its rows are still being removed', async () => {
    const { talk, ...ids } = await livelyTalk();
    const { key, agentId } = talk;
    await addMessages(talk, MANY_MESSAGES);
    const requests: Request[] = [...requestsOf(talk, ids), ['DELETE', talk.path]];
    const traces: Request[] = [
      ['GET', `/v1/agents/${agentId}/traces/${ids.runId}`],
      ['GET', `/v1/agents/${agentId}/messages/${ids.messageId}/trace`],
    ];
    expect((await replica.http('GET', talk.path, { key })).status).toBe(200);
    const before = (await service.http<{ threads: { id: string }[] }>('GET', '/v1/threads', { key })).body.threads;
    expect((await service.http('DELETE', talk.path, { key })).status).toBe(200);

    expect(await statusesAt(service, key, [...requests, ...traces])).toEqual(all(404, [...requests, ...traces]));
    const { threads } = (await replica.http<{ threads: { id: string }[] }>('GET', '/v1/threads', { key })).body;
    expect(threads).toEqual(before.filter(({ id }) => id !== talk.threadId));
    const listed = await replica.http('GET', `/v1/agents/${agentId}/traces?sessionId=${talk.threadId}`, { key });
    expect(listed.body).toMatchObject({ traces: [], meta: { totalItems: 0 } });
    await clock.advance(CACHES_MS);
    expect(await statusesAt(replica, key, [...requests, ...traces])).toEqual(all(404, [...requests, ...traces]));

    const stored = await rowsOf(talk);
    expect(stored).toMatchObject({ threads: 3, messages: 4 + MANY_MESSAGES });
    letJobsRun();
    await untilRows(talk, { ...stored, threads: 2, messages: 2, runs: 1, traces: 1 });
  });

  it('frees its external id for a new thread', async () => {
    const talk = await Talk.start(service);
    const { key, agentId } = talk;
    service.models.always(says('Hello'));
    const clientThread = randomUUID();
    const say = async (): Promise<string | undefined> => {
      await sayAs(talk, clientThread);
      const rows = await service.database.query<{ id: string }>(
        'select id from threads where agent_id = $1 and external_id = $2',
        [agentId, clientThread],
      );
      return rows[0]?.id;
    };
    const first = await say();
    await service.database.query(
      `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
       select gen_random_uuid(), $1, $2, 'user', 'Hello', 'completed', now() from generate_series(1, $3::int)`,
      [talk.organization.id, first, MANY_MESSAGES],
    );
    expect((await service.http('DELETE', `/v1/threads/${first ?? ''}`, { key })).status).toBe(200);
    const second = await say();
    expect(second).not.toBe(first);
    const { body } = await service.http<{ messages: object[] }>('GET', `/v1/threads/${second ?? ''}/messages`, { key });
    expect(body.messages).toHaveLength(2);
  });

  it('cancels its run in another process at the next heartbeat', async () => {
    const talk = await Talk.start(service);
    await addMessages(talk, MANY_MESSAGES);
    const held = new HeldReply(['Half an answer']);
    service.models.next(held.script);
    const streaming = talk.streamed('Hi');
    const asked = await held.asked;
    await heartbeatsOver(service);
    expect((await replica.http('DELETE', talk.path, { key: talk.key })).status).toBe(200);
    await clock.advance(HEARTBEAT_MS);
    await asked.disconnected;
    held.finish();
    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    letJobsRun();
    await untilRows(talk, { ...(await rowsOf(talk)), threads: 0, messages: 0, runs: 0, traces: 0 });
  });
});
