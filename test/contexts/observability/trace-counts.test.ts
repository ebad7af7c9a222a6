import { describe, expect, it } from '@jest/globals';
import { PurgeTraces } from '../../../src/observability/jobs/purge-traces.job.js';
import { type Answer, until, useService } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';
import { makeTraces, publishTraces } from '../../support/traces.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Listed {
  readonly traces: readonly { readonly id: string }[];
  readonly meta: { readonly totalItems: number; readonly totalPages: number };
}

const clock = new ShiftedClock();
const service = useService({ clock });

function list(talk: Talk, query: Readonly<Record<string, string>> = {}): Promise<Answer<Listed>> {
  clock.moveOn(2_000);
  return service.http<Listed>('GET', `/v1/agents/${talk.agentId}/traces?${new URLSearchParams(query).toString()}`, {
    key: talk.key,
  });
}

async function total(talk: Talk, query: Readonly<Record<string, string>> = {}): Promise<number> {
  return (await list(talk, query)).body.meta.totalItems;
}

function made(talk: Talk, count: number, minutesAgo: number, everyMs: number): Promise<string[]> {
  const newest = new Date(clock.now().getTime() - minutesAgo * MINUTE_MS);
  return makeTraces(service, {
    organizationId: talk.organization.id,
    agentId: talk.agentId,
    threadId: talk.threadId,
    count,
    newest,
    everyMs,
  });
}

async function ran(talk: Talk): Promise<string> {
  service.models.next(says('Hello'));
  return (await talk.run('Hi')).body.run.id;
}

describe('the number of traces', () => {
  it('is the same before, during and after publication', async () => {
    const talk = await Talk.start(service);
    await made(talk, 700, 200, MINUTE_MS);
    expect(await total(talk)).toBe(700);
    await publishTraces(service);
    expect(await total(talk)).toBe(700);
    await ran(talk);
    await made(talk, 50, 300, 1_000);
    expect(await total(talk)).toBe(751);
    clock.moveOn(2 * MINUTE_MS);
    await publishTraces(service);
    expect(await total(talk)).toBe(751);
  });

  it('is that of the requested range, whatever part of an hour it starts and ends with', async () => {
    const talk = await Talk.start(service);
    const newest = new Date(Math.floor(clock.now().getTime() / HOUR_MS) * HOUR_MS - HOUR_MS);
    const { organization, agentId, threadId } = talk;
    await makeTraces(service, {
      organizationId: organization.id,
      agentId,
      threadId,
      count: 500,
      newest,
      everyMs: MINUTE_MS,
    });
    const range = (from: number, to: number): Record<string, string> => ({
      fromTimestamp: new Date(newest.getTime() - from * MINUTE_MS).toISOString(),
      toTimestamp: new Date(newest.getTime() - to * MINUTE_MS).toISOString(),
    });
    for (const [from, to] of [
      [400, 20],
      [120, 60],
      [119, 61],
      [30, 10],
      [5, 5],
      [61, 59],
      [499, 0],
    ] as const) {
      expect(await total(talk, range(from, to))).toBe(from - to + 1);
    }
    await publishTraces(service);
    for (const [from, to] of [
      [400, 20],
      [120, 60],
      [119, 61],
      [30, 10],
      [5, 5],
      [61, 59],
      [499, 0],
    ] as const) {
      expect(await total(talk, range(from, to))).toBe(from - to + 1);
    }
  });

  it('excludes the traces of a deleted thread, for small and large threads, published or not', async () => {
    const talk = await Talk.start(service);
    const small = await talk.another();
    const large = await talk.another();
    await made(talk, 10, 100, MINUTE_MS);
    await made(small, 20, 100, MINUTE_MS);
    await made(large, 1_500, 100, 1_000);
    await publishTraces(service);
    await made(small, 5, 30, MINUTE_MS);
    await made(large, 7, 30, MINUTE_MS);
    expect(await total(talk)).toBe(1_542);
    for (const { path, key } of [small, large]) await service.http('DELETE', path, { key });
    expect(await total(talk)).toBe(10);
    await until(
      async () =>
        (await service.database.query('select 1 from traces where thread_id = $1', [large.threadId])).length === 0,
      'its rows are removed',
    );
    expect(await total(talk)).toBe(10);
    expect(await total(talk, { sessionId: talk.threadId })).toBe(10);
  });

  it('is correct after old traces are purged and counts are merged', async () => {
    const talk = await Talk.start(service);
    await made(talk, 30, 89 * 24 * 60, 60_000);
    await made(talk, 5, 10, 1_000);
    await publishTraces(service);
    clock.moveOn(DAY_MS - 10 * MINUTE_MS);
    const purge = (): Promise<void> => service.app.get(PurgeTraces).process(activeJob({}));
    await purge();
    const before = await total(talk);
    expect(before).toBeGreaterThan(5);
    expect(before).toBeLessThan(35);
    clock.moveOn(HOUR_MS);
    expect(await total(talk)).toBe(5);
    await purge();
    expect(await total(talk)).toBe(5);
    clock.moveOn(2 * DAY_MS);
    await purge();
    const rows = await service.database.query('select 1 from trace_counts where agent_id = $1', [talk.agentId]);
    expect(rows).toHaveLength(1);
  });

  it('leaves no row after the agent is deleted', async () => {
    const talk = await Talk.start(service);
    await talk.run('Hi', { config: { userContext: { userId: 'u' } } });
    await made(talk, 10, 100, MINUTE_MS);
    clock.moveOn(2 * MINUTE_MS);
    await publishTraces(service);
    await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key });
    const tables = ['traces', 'trace_counts', 'agent_usage', 'agent_users', 'removed_runs'];
    const left = tables.map((table) => `select 1 from ${table} where agent_id = $1`).join(' union all ');
    await until(
      async () => (await service.database.query(left, [talk.agentId])).length === 0,
      'a job has removed the rows',
    );
  });
});

describe('a page far into the list', () => {
  it('continues the previous one, without a gap and without a repeat', async () => {
    const talk = await Talk.start(service);
    const older = await made(talk, 900, 130, 20_000);
    await publishTraces(service);
    const newer = await made(talk, 40, 3, 1_000);
    const pages: string[][] = [];
    for (let page = 1; page <= 10; page += 1) {
      pages.push((await list(talk, { page: String(page), limit: '100' })).body.traces.map(({ id }) => id));
    }
    expect(pages.flat()).toEqual([...newer, ...older]);
    expect((await list(talk, { page: '11', limit: '100' })).body.traces).toEqual([]);
  });
});
