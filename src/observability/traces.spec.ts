import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OrganizationDirectory } from '../access/index.js';
import { activeJob } from '../../test/support/job-site.js';
import { insertRows, rowsByTable, type SqlExecutor, statement } from '../platform/database/index.js';
import { ManualClock } from '../../test/support/manual-clock.js';
import { openTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { accessContext } from '../access/index.js';
import { agentsContext } from '../agents/index.js';
import { conversationsContext, type FinishedRun } from '../conversations/index.js';
import { newId } from '../platform/ids/index.js';
import { createLogger } from '../platform/telemetry/index.js';
import { ReadTraces, type TraceQuery } from './application/read-traces.js';
import { RecordTrace } from './application/record-trace.js';
import { MessageTraceNotFound, TraceNotFound } from './domain/observability.errors.js';
import { PurgeTraces } from './jobs/purge-traces.job.js';
import { TraceCountsRepository } from './persistence/trace-counts.repository.js';
import { TraceRepository } from './persistence/trace.repository.js';
import { tracesSchema } from './persistence/traces.schema.js';
import { PURGE_BATCH, RETENTION_MS } from './limits.js';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-01T12:00:00.000Z');
const ANY_TIME: TraceQuery = { page: 1, limit: 50, threadId: null, from: null, to: null };

interface Conversation {
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
}

let open: TestDatabase;
let traces: TraceRepository;
let record: RecordTrace;
let read: ReadTraces;

beforeAll(async () => {
  open = await openTestDatabase([
    accessContext.schema,
    agentsContext.schema,
    conversationsContext.schema,
    tracesSchema,
  ]);
  traces = new TraceRepository(open.database);
  record = new RecordTrace();
  read = new ReadTraces(traces, new ManualClock(NOW));
});

afterAll(() => open.close());

async function conversation(of: Partial<Conversation> = {}): Promise<Conversation> {
  const made = { organizationId: newId(), agentId: newId(), threadId: newId(), ...of };
  const { organizationId, agentId, threadId } = made;
  if (of.organizationId === undefined) {
    await open.database.query(
      `insert into organizations (id, name, plan, features, created_at) values ($1, 'Test', 'free', '{}', now())`,
      [organizationId],
    );
  }
  if (of.agentId === undefined) {
    await open.database.query(
      `insert into agents (id, organization_id, type, name, system_prompt, settings, version, created_at, updated_at)
       values ($1, $2, 'anthropic', 'Helper', '', '{}', 1, now(), now())`,
      [agentId, organizationId],
    );
  }
  await open.database.query(
    `insert into threads (id, organization_id, agent_id, channel, created_at, updated_at)
     values ($1, $2, $3, 'api', now(), now())`,
    [threadId, organizationId, agentId],
  );
  return made;
}

type RunChanges = Partial<FinishedRun> & { readonly startedAt?: Date; readonly reply?: string };

function finishedRun(on: Conversation, more: RunChanges = {}): FinishedRun {
  const { startedAt = NOW, reply = 'Hello.', ...rest } = more;
  const runId = newId();
  return {
    run: {
      ...on,
      id: runId,
      status: 'completed',
      createdAt: startedAt,
      completedAt: new Date(startedAt.getTime() + 1_500),
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18, cachedInputTokens: 8, credits: 0.25 },
      error: null,
      approvals: [],
    },
    failureCause: null,
    agent: { provider: 'anthropic', model: 'some-model', useOwnApiKey: false },
    channel: 'api',
    userMessage: { id: newId(), text: 'Hi' },
    decisions: null,
    callerSpan: null,
    message: {
      id: newId(),
      threadId: on.threadId,
      runId,
      role: 'assistant',
      content: reply,
      status: 'completed',
      blocked: false,
      reaction: null,
      toolCalls: [],
      components: [],
      transcript: [],
      createdAt: startedAt,
    },
    userContext: null,
    userKey: null,
    steps: [],
    latencyMs: 1_500,
    timeToFirstTokenMs: 40,
    ...rest,
  };
}

/** Inserts the rows in one statement, as the end of a run does. */
async function store(executor: SqlExecutor, finished: FinishedRun): Promise<void> {
  for (const kept of rowsByTable(open.database.orm, record.record(finished))) {
    const insert = statement(
      { rows: 'jsonb' },
      (p) => `with ended_run as (select 1) ${insertRows(kept, p.rows, 'ended_run')}`,
    );
    await insert.run(executor, { rows: kept.rows });
  }
}

function keep(...all: FinishedRun[]): Promise<void> {
  return open.database.transaction(async (transaction) => {
    for (const finished of all) await store(transaction, finished);
  });
}

function list(on: Conversation, query: Partial<TraceQuery> = {}): ReturnType<ReadTraces['list']> {
  return read.list(on.organizationId, on.agentId, { ...ANY_TIME, ...query });
}

describe('a trace', () => {
  it('has input, output, steps and duration of the run', async () => {
    const on = await conversation();
    const startedAt = new Date(NOW.getTime() - 5);
    const finished = finishedRun(on, {
      userContext: { userId: 'u-1', premium: true },
      steps: [
        {
          id: 'step-1',
          type: 'tool',
          name: 'weather',
          startedAt,
          latencyMs: 12,
          input: { city: 'Oslo' },
          output: 'rain',
          error: null,
          usage: { inputTokens: 1, outputTokens: null, cachedInputTokens: null },
        },
      ],
    });
    await keep(finished);
    expect(await read.byId(on.organizationId, on.agentId, finished.run.id)).toEqual({
      id: finished.run.id,
      agentId: on.agentId,
      threadId: on.threadId,
      messageId: finished.message?.id,
      channel: 'api',
      provider: 'anthropic',
      model: 'some-model',
      status: 'completed',
      startedAt: NOW,
      latencyMs: 1_500,
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18, cachedInputTokens: 8, credits: 0.25 },
      input: 'Hi',
      output: 'Hello.',
      timeToFirstTokenMs: 40,
      steps: [
        {
          id: 'step-1',
          type: 'tool',
          name: 'weather',
          startedAt: startedAt.toISOString(),
          latencyMs: 12,
          input: { city: 'Oslo' },
          output: 'rain',
          error: null,
          usage: { inputTokens: 1, outputTokens: null, cachedInputTokens: null },
        },
      ],
      error: null,
      userContext: { userId: 'u-1', premium: true },
    });
  });

  it('is stored by the transaction that ends the run, and not if that rolls back', async () => {
    const on = await conversation();
    const kept = finishedRun(on);
    const lost = finishedRun(on);
    await keep(kept);
    const failing = open.database.transaction(async (transaction) => {
      await store(transaction, lost);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect((await list(on)).traces.map(({ id }) => id)).toEqual([kept.run.id]);
  });

  it('is the first one if a run is stored twice', async () => {
    const on = await conversation();
    const finished = finishedRun(on, { reply: 'first' });
    await keep(finished, { ...finished, message: null });
    expect(await list(on)).toMatchObject({ totalItems: 1, traces: [{ output: 'first' }] });
  });

  it('describes a run without a message, with unknown usage and an error', async () => {
    const on = await conversation();
    const { run, ...rest } = finishedRun(on);
    const error = { code: 'provider_error' as const, message: 'The provider failed.' };
    const usage = { inputTokens: null, outputTokens: 7, totalTokens: null, cachedInputTokens: null, credits: 0 };
    await keep({ ...rest, run: { ...run, status: 'failed', error, usage }, message: null, timeToFirstTokenMs: null });
    expect(await read.byId(on.organizationId, on.agentId, run.id)).toMatchObject({
      status: 'failed',
      messageId: null,
      output: '',
      usage,
      error,
      timeToFirstTokenMs: null,
    });
  });

  it('is stored for text that the database cannot store, and for runs that lasted months', async () => {
    const on = await conversation();
    const { run, ...rest } = finishedRun(on, {
      reply: 'a\u0000b\ud800c',
      steps: [
        {
          id: 's',
          type: 'tool',
          name: 't',
          startedAt: NOW,
          latencyMs: 1,
          input: { ['k\u0000']: 'v\u0000' },
          output: undefined,
          error: 'e\u0000',
        },
      ],
    });
    await keep({ ...rest, run, latencyMs: 60 * DAY_MS });
    expect(await read.byId(on.organizationId, on.agentId, run.id)).toMatchObject({
      output: 'ab\ufffdc',
      latencyMs: 60 * DAY_MS,
      steps: [{ input: { k: 'v' }, output: null, error: 'e' }],
    });
  });

  it('is deleted with its thread', async () => {
    const on = await conversation();
    const other = await conversation({ organizationId: on.organizationId, agentId: on.agentId });
    await keep(finishedRun(on), finishedRun(other));
    await open.database.query('delete from threads where id = $1', [on.threadId]);
    expect((await list(on)).traces.map(({ threadId }) => threadId)).toEqual([other.threadId]);
  });
});

describe('reading traces', () => {
  it('returns the first 200 code points of input and output in a list, and all of them for one trace', async () => {
    const on = await conversation();
    const long = '😀'.repeat(250);
    const finished = finishedRun(on, { reply: long, userMessage: { id: newId(), text: `é${long}` } });
    await keep(finished);
    const [summary] = (await list(on)).traces;
    expect(summary).toMatchObject({ input: `é${'😀'.repeat(199)}`, output: '😀'.repeat(200) });
    expect(summary).not.toHaveProperty('steps');
    expect(await read.byId(on.organizationId, on.agentId, finished.run.id)).toMatchObject({ output: long });
  });

  it('returns every trace once, newest first, even with equal start times', async () => {
    const on = await conversation();
    const minutesAgo = [3, 1, 1, 1, 2];
    const runs = minutesAgo.map((minutes) =>
      finishedRun(on, { startedAt: new Date(NOW.getTime() - minutes * 60_000) }),
    );
    await keep(...runs);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(on, { page, limit: 2 })));
    expect(pages.map(({ totalItems }) => totalItems)).toEqual([5, 5, 5, 5]);
    expect(pages.map((page) => page.traces.length)).toEqual([2, 2, 1, 0]);
    const ids = runs.map(({ run }) => run.id);
    expect(pages.flatMap((page) => page.traces.map(({ id }) => id))).toEqual([ids[3], ids[2], ids[1], ids[4], ids[0]]);
  });

  it('returns an empty page for an offset that no list has', async () => {
    const on = await conversation();
    await keep(finishedRun(on));
    expect(await list(on, { page: Number.MAX_SAFE_INTEGER, limit: 100 })).toEqual({ traces: [], totalItems: 1 });
  });

  it('filters by thread and by time, including both ends', async () => {
    const on = await conversation();
    const other = await conversation({ organizationId: on.organizationId, agentId: on.agentId });
    const at = (day: number): Date => new Date(NOW.getTime() - day * DAY_MS);
    await keep(
      finishedRun(on, { startedAt: at(1) }),
      finishedRun(on, { startedAt: at(2) }),
      finishedRun(other, { startedAt: at(3) }),
    );
    expect((await list(on, { threadId: on.threadId })).totalItems).toBe(2);
    expect((await list(on, { from: at(2), to: at(1) })).totalItems).toBe(2);
    expect((await list(on, { from: new Date(at(2).getTime() + 1) })).totalItems).toBe(1);
    expect((await list(on, { to: new Date(at(1).getTime() - 1) })).totalItems).toBe(2);
    await expect(list(on, { from: at(1), to: at(2) })).rejects.toThrow('fromTimestamp must not be after toTimestamp');
  });

  it('returns nothing older than 90 days, even if the purge is late', async () => {
    const on = await conversation();
    const oldest = finishedRun(on, { startedAt: new Date(NOW.getTime() - RETENTION_MS) });
    const older = finishedRun(on, { startedAt: new Date(NOW.getTime() - RETENTION_MS - 1) });
    await keep(oldest, older);
    const { traces: found, totalItems } = await list(on, { from: new Date(0) });
    expect({ totalItems, ids: found.map(({ id }) => id) }).toEqual({ totalItems: 1, ids: [oldest.run.id] });
    const { organizationId, agentId } = on;
    await expect(read.byId(organizationId, agentId, older.run.id)).rejects.toThrow(TraceNotFound);
    const byMessage = read.byMessage(organizationId, agentId, older.message?.id ?? '');
    await expect(byMessage).rejects.toThrow(MessageTraceNotFound);
  });

  it('finds a trace by its assistant message, and by no other message', async () => {
    const on = await conversation();
    const finished = finishedRun(on);
    await keep(finished);
    const found = await read.byMessage(on.organizationId, on.agentId, finished.message?.id ?? '');
    expect(found.id).toBe(finished.run.id);
    const byUserMessage = read.byMessage(on.organizationId, on.agentId, finished.userMessage?.id ?? '');
    await expect(byUserMessage).rejects.toThrow(MessageTraceNotFound);
  });

  it('never returns traces of another agent or organization', async () => {
    const on = await conversation();
    const sibling = await conversation({ organizationId: on.organizationId });
    const foreign = await conversation();
    const finished = finishedRun(on);
    await keep(finished);
    for (const [organizationId, agentId] of [
      [sibling.organizationId, sibling.agentId],
      [foreign.organizationId, foreign.agentId],
      [foreign.organizationId, on.agentId],
    ] as const) {
      expect((await list({ ...on, organizationId, agentId })).totalItems).toBe(0);
      await expect(read.byId(organizationId, agentId, finished.run.id)).rejects.toThrow(TraceNotFound);
      const byMessage = read.byMessage(organizationId, agentId, finished.message?.id ?? '');
      await expect(byMessage).rejects.toThrow(MessageTraceNotFound);
    }
  });
});

describe('the purge', () => {
  const organizations = { retentions: () => Promise.resolve([]) } as unknown as OrganizationDirectory;
  const purge = (): PurgeTraces =>
    new PurgeTraces(
      traces,
      new TraceCountsRepository(open.database),
      organizations,
      new ManualClock(NOW),
      createLogger({ logLevel: 'silent' }),
    );
  const keepOld = (on: Conversation, count: number): Promise<void> =>
    keep(
      ...Array.from({ length: count }, () =>
        finishedRun(on, { startedAt: new Date(NOW.getTime() - RETENTION_MS - 1) }),
      ),
    );
  const stored = async (on: Conversation): Promise<string[]> => {
    const rows = await open.database.query<{ id: string }>('select id from traces where agent_id = $1', [on.agentId]);
    return rows.map(({ id }) => id);
  };

  it('deletes all traces older than 90 days in batches, and nothing else, however often it runs', async () => {
    const on = await conversation();
    const oldest = finishedRun(on, { startedAt: new Date(NOW.getTime() - RETENTION_MS) });
    await keep(oldest);
    await keepOld(on, PURGE_BATCH + 3);
    await purge().process(activeJob({}));
    expect(await stored(on)).toEqual([oldest.run.id]);
    await purge().process(activeJob({}));
    expect(await stored(on)).toEqual([oldest.run.id]);
  });

  it('deletes at most one batch in a statement', async () => {
    const on = await conversation();
    await keepOld(on, 5);
    expect(await traces.deleteBefore(new Date(NOW.getTime() - RETENTION_MS), 3)).toBe(3);
    expect(await stored(on)).toHaveLength(2);
    await purge().process(activeJob({}));
  });

  it('stops between batches when its process stops', async () => {
    const on = await conversation();
    await keepOld(on, 1);
    const stopped = purge().process(activeJob({}, AbortSignal.abort(new Error('stopping'))));
    await expect(stopped).rejects.toThrow('stopping');
    expect(await stored(on)).toHaveLength(1);
    await purge().process(activeJob({}));
  });
});
