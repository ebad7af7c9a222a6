import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { type Answer, useService } from '../../support/harness.js';
import { refuses, says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';
import { makeTraces, publishTraces } from '../../support/traces.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface FeedbackBody {
  readonly from: string;
  readonly to: string;
  readonly messages: number;
  readonly users: number;
  readonly reactions: readonly { readonly reaction: string; readonly count: number; readonly share: number }[];
  readonly estimatedTimeSavedMinutes: number;
}

interface Bucket {
  readonly start: string;
  readonly runs: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly credits: number;
  readonly durationMs: { readonly p50: number | null; readonly p95: number | null };
  readonly timeToFirstTokenMs: { readonly p50: number | null; readonly p95: number | null };
}

interface UsageBody {
  readonly from: string;
  readonly to: string;
  readonly bucket: string;
  readonly series: readonly Bucket[];
}

const clock = new ShiftedClock();
const service = useService({ clock });

function ask<Body>(
  talk: Talk,
  what: 'feedback' | 'usage',
  query: Readonly<Record<string, string>> = {},
): Promise<Answer<Body>> {
  return service.http<Body>(
    'GET',
    `/v1/agents/${talk.agentId}/analytics/${what}?${new URLSearchParams(query).toString()}`,
    { key: talk.key },
  );
}

const feedback = async (talk: Talk, query = {}): Promise<FeedbackBody> =>
  (await ask<FeedbackBody>(talk, 'feedback', query)).body;
const usage = async (talk: Talk, query = {}): Promise<UsageBody> => (await ask<UsageBody>(talk, 'usage', query)).body;

/** @returns the id of the reply */
async function answered(talk: Talk, userId?: string | number): Promise<string> {
  service.models.next(says('Hello'));
  const config = userId === undefined ? {} : { config: { userContext: { userId } } };
  return (await talk.run('Hi', config)).body.message?.id ?? '';
}

async function failed(talk: Talk): Promise<void> {
  service.models.next(refuses(400));
  await talk.run('Fail');
}

function react(talk: Talk, messageId: string, reaction: string | null): Promise<Answer> {
  return service.http('PUT', `${talk.path}/messages/${messageId}/reaction`, { key: talk.key, body: { reaction } });
}

async function publish(): Promise<void> {
  clock.moveOn(2 * MINUTE_MS);
  await publishTraces(service);
}

describe('feedback on an agent', () => {
  it('counts replies, users and reactions, with the same result before and after publication', async () => {
    const talk = await Talk.start(service);
    const other = await talk.another();
    const [first, second, third] = [await answered(talk, 'ann'), await answered(other, 'ann'), await answered(talk, 7)];
    const fourth = await answered(talk);
    await failed(talk);
    await react(talk, first, 'thumbs_up');
    await react(other, second, 'thumbs_down');
    await react(talk, third, 'thumbs_down');
    await react(talk, third, 'thumbs_up');
    await react(talk, fourth, 'thumbs_up');
    await react(talk, fourth, null);
    const counted = {
      messages: 4,
      users: 2,
      reactions: [
        { reaction: 'thumbs_up', count: 2, share: 0.5 },
        { reaction: 'thumbs_down', count: 1, share: 0.25 },
      ],
      estimatedTimeSavedMinutes: 9,
    };
    expect(await feedback(talk)).toEqual({ from: expect.any(String), to: expect.any(String), ...counted });
    await publish();
    expect(await feedback(talk)).toMatchObject(counted);
    await service.http('DELETE', other.path, { key: talk.key });
    expect(await feedback(talk)).toMatchObject({ messages: 3, reactions: [{ count: 2 }, { count: 0, share: 0 }] });
  });

  it('covers the requested range: timestamps, or days including the last one', async () => {
    const talk = await Talk.start(service);
    await react(talk, await answered(talk, 'early'), 'thumbs_up');
    await publish();
    clock.moveOn(2 * DAY_MS);
    const between = new Date(clock.now().getTime() - DAY_MS).toISOString();
    await answered(talk, 'late');
    const day = (time: string): string => time.slice(0, 10);
    const today = day(clock.now().toISOString());
    const early = { messages: 1, users: 1, reactions: [{ count: 1 }, { count: 0 }] };
    const late = { messages: 1, users: 1, reactions: [{ count: 0 }, { count: 0 }] };
    for (let round = 0; round < 2; round += 1) {
      expect(await feedback(talk)).toMatchObject({ messages: 2, users: 2 });
      expect(await feedback(talk, { from: between })).toMatchObject({ from: between, ...late });
      expect(await feedback(talk, { to: between })).toMatchObject({ to: between, ...early });
      expect(await feedback(talk, { from: today, to: today })).toMatchObject({
        from: `${today}T00:00:00.000Z`,
        ...late,
      });
      expect(await feedback(talk, { to: day(between) })).toMatchObject(early);
      expect(await feedback(talk, { from: '2000-01-01', to: '2000-01-02' })).toMatchObject({
        messages: 0,
        users: 0,
        estimatedTimeSavedMinutes: 0,
      });
      await publish();
    }
  });

  it('counts a reaction by the start of its run, like the reply', async () => {
    const talk = await Talk.start(service);
    const started = clock.now().getTime();
    service.models.next(async (exchange, wire) => {
      clock.moveOn(10 * MINUTE_MS);
      await says('Late')(exchange, wire);
    });
    const { body } = await talk.run('Hi');
    await react(talk, body.message?.id ?? '', 'thumbs_up');
    const between = new Date(started + 5 * MINUTE_MS).toISOString();
    expect(await feedback(talk, { to: between })).toMatchObject({
      messages: 1,
      reactions: [{ count: 1, share: 1 }, { count: 0 }],
    });
    expect(await feedback(talk, { from: between })).toMatchObject({
      messages: 0,
      reactions: [{ count: 0 }, { count: 0 }],
    });
  });

  it('is zero for an agent without runs', async () => {
    const talk = await Talk.start(service);
    const none = [
      { reaction: 'thumbs_up', count: 0, share: 0 },
      { reaction: 'thumbs_down', count: 0, share: 0 },
    ];
    const { from, to, ...counted } = await feedback(talk);
    expect(counted).toEqual({ messages: 0, users: 0, reactions: none, estimatedTimeSavedMinutes: 0 });
    expect(Date.parse(to) - Date.parse(from)).toBe(90 * DAY_MS);
  });
});

describe('the usage of an agent', () => {
  it('sums up the runs of each bucket, with the same result before and after publication', async () => {
    const talk = await Talk.start(service);
    await answered(talk);
    await answered(talk);
    await failed(talk);
    const { body } = await service.http<{
      traces: { latencyMs: number; usage: { credits: number }; startedAt: string }[];
    }>('GET', `/v1/agents/${talk.agentId}/traces`, { key: talk.key });
    const credits = body.traces.reduce((sum, trace) => sum + Math.round(trace.usage.credits * 10_000), 0) / 10_000;
    const totals = { runs: 3, failed: 1, inputTokens: 22, outputTokens: 14, credits };
    const sum = (series: readonly Bucket[], field: keyof typeof totals): number =>
      series.reduce((all, each) => all + each[field], 0);
    for (let round = 0; round < 2; round += 1) {
      for (const bucket of ['hour', 'day']) {
        const { series } = await usage(talk, { bucket });
        for (const field of ['runs', 'failed', 'inputTokens', 'outputTokens'] as const)
          expect(sum(series, field)).toBe(totals[field]);
        expect(sum(series, 'credits')).toBeCloseTo(credits, 4);
      }
      await publish();
    }
    expect(credits).toBeGreaterThan(0);
  });

  it('has all buckets, including empty ones, and percentiles with an error of at most 2.5 %', async () => {
    const talk = await Talk.start(service);
    const now = clock.now().getTime();
    const noon = new Date(Math.floor(now / DAY_MS) * DAY_MS - 3 * DAY_MS + 12 * HOUR_MS);
    await makeTraces(service, {
      organizationId: talk.organization.id,
      agentId: talk.agentId,
      threadId: talk.threadId,
      count: 100,
      newest: noon,
      everyMs: 1_000,
    });
    const latencies = `update traces set latency_ms = nth * 10, time_to_first_token_ms = nth
      from (select id, row_number() over (order by id) as nth from traces where agent_id = $1) n where traces.id = n.id`;
    await service.database.query(latencies, [talk.agentId]);
    const from = noon.toISOString().slice(0, 10);
    for (let round = 0; round < 2; round += 1) {
      const { series, ...range } = await usage(talk, { from, to: from, bucket: 'hour' });
      expect(range).toEqual({
        from: `${from}T00:00:00.000Z`,
        to: new Date(Date.parse(from) + DAY_MS).toISOString(),
        bucket: 'hour',
      });
      expect(series.map(({ start }) => start)).toEqual(
        Array.from({ length: 24 }, (_, hour) => new Date(Date.parse(from) + hour * HOUR_MS).toISOString()),
      );
      expect(series.map(({ runs }) => runs)).toEqual(
        series.map(({ start }) => (start.includes('T11') ? 99 : start.includes('T12') ? 1 : 0)),
      );
      const day = (await usage(talk, { from, to: from })).series[0];
      for (const [percentiles, scale] of [
        [day?.durationMs, 10],
        [day?.timeToFirstTokenMs, 1],
      ] as const) {
        expect(Math.abs((percentiles?.p50 ?? 0) - 50 * scale)).toBeLessThanOrEqual(50 * scale * 0.025 + 0.5);
        expect(Math.abs((percentiles?.p95 ?? 0) - 95 * scale)).toBeLessThanOrEqual(95 * scale * 0.025 + 0.5);
      }
      expect(series[0]).toEqual({
        ...{ start: `${from}T00:00:00.000Z`, runs: 0, failed: 0, inputTokens: 0, outputTokens: 0, credits: 0 },
        ...{ durationMs: { p50: null, p95: null }, timeToFirstTokenMs: { p50: null, p95: null } },
      });
      await publishTraces(service);
    }
  });

  it('ignores runs without a first token in the time to the first token', async () => {
    const talk = await Talk.start(service);
    await failed(talk);
    for (let round = 0; round < 2; round += 1) {
      const { series } = await usage(talk);
      const [ran] = series.filter(({ runs }) => runs > 0);
      expect(ran).toMatchObject({
        runs: 1,
        failed: 1,
        durationMs: { p50: expect.any(Number) },
        timeToFirstTokenMs: { p50: null, p95: null },
      });
      await publish();
    }
  });

  it('adds late runs to a counted hour, in several batches', async () => {
    const talk = await Talk.start(service);
    const newest = new Date(clock.now().getTime() - 30 * MINUTE_MS);
    const on = {
      organizationId: talk.organization.id,
      agentId: talk.agentId,
      threadId: talk.threadId,
      newest,
      everyMs: 0,
    };
    await makeTraces(service, { ...on, count: 1_100 });
    await Promise.all([publishTraces(service), publishTraces(service)]);
    await makeTraces(service, { ...on, count: 5 });
    const counted = async (): Promise<number[]> =>
      (await usage(talk, { bucket: 'hour' })).series.map(({ runs }) => runs).filter((runs) => runs > 0);
    expect(await counted()).toEqual([1_105]);
    await publishTraces(service);
    expect(await counted()).toEqual([1_105]);
  });

  it('includes the runs of deleted conversations', async () => {
    const talk = await Talk.start(service);
    const other = await talk.another();
    const runs = async (): Promise<number> => (await usage(talk)).series.reduce((sum, bucket) => sum + bucket.runs, 0);
    await answered(talk);
    await publish();
    await answered(other);
    for (const { path, key } of [talk, other]) await service.http('DELETE', path, { key });
    expect(await runs()).toBe(2);
    await publish();
    expect(await runs()).toBe(2);
  });

  it('goes back 90 days, even by the hour', async () => {
    const talk = await Talk.start(service);
    const { series } = await usage(talk, {
      from: new Date(clock.now().getTime() - 90 * DAY_MS + MINUTE_MS).toISOString(),
      bucket: 'hour',
    });
    expect(series.length).toBeGreaterThanOrEqual(90 * 24);
    expect((await usage(talk)).series).toHaveLength(8);
    const old = await usage(talk, { from: '0001-01-01', to: '0001-01-02' });
    expect(old.series.map(({ runs }) => runs)).toEqual([0, 0]);
  });
});

describe('analytics', () => {
  it.each([
    ['feedback', 'from=yesterday', 'from'],
    ['feedback', 'to=2026-02-30', 'to'],
    ['feedback', 'from=2026-02-02&to=2026-01-31', 'from'],
    ['feedback', 'bucket=day', 'bucket'],
    ['usage', 'from=2026-13-01', 'from'],
    ['usage', 'from=2026-02-02T00:00:00', 'from'],
    ['usage', 'bucket=minute', 'bucket'],
    ['usage', 'from=0000-01-01&to=0000-01-02', 'from'],
    ['usage', 'from=9999-12-30&to=9999-12-31', 'from'],
    ['feedback', 'to=9999-12-31T23:59:59-23:59', 'to'],
    ['usage', 'from=2026-01-01&to=2026-06-01', 'from'],
    ['usage', 'from=2026-02-01&from=2026-02-02', 'from'],
  ] as const)('of %s refuse ?%s and name the field', async (what, query, field) => {
    const talk = await Talk.start(service);
    const answer = await service.http('GET', `/v1/agents/${talk.agentId}/analytics/${what}?${query}`, {
      key: talk.key,
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(field) },
    });
  });

  it('include no other agent or organization', async () => {
    const [talk, foreign] = [await Talk.start(service), await Talk.start(service)];
    const sibling = await talk.withAnotherAgent();
    await react(foreign, await answered(foreign, 'u'), 'thumbs_up');
    await react(sibling, await answered(sibling, 'u'), 'thumbs_up');
    for (let round = 0; round < 2; round += 1) {
      expect(await feedback(talk)).toMatchObject({ messages: 0, users: 0, reactions: [{ count: 0 }, { count: 0 }] });
      expect((await usage(talk)).series.every(({ runs }) => runs === 0)).toBe(true);
      await publish();
    }
    for (const what of ['feedback', 'usage']) {
      const absent = await service.http('GET', `/v1/agents/${newId()}/analytics/${what}`, { key: talk.key });
      const other = await service.http('GET', `/v1/agents/${foreign.agentId}/analytics/${what}`, { key: talk.key });
      expect([other.status, other.text]).toEqual([404, absent.text]);
    }
  });
});
