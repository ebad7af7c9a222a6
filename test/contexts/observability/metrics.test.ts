import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ThrottlerStorage } from '@nestjs/throttler';
import { newId } from '../../../src/platform/ids/index.js';
import { COUNT_KEPT_MS, COUNT_TIMEOUT_MS } from '../../../src/platform/jobs/limits.js';
import { OutboxStore } from '../../../src/platform/jobs/outbox.sql.js';
import { approve, ASKS_ALWAYS, decline, NotingTool } from '../../support/approvals.js';
import { useUpBudget } from '../../support/budgets.js';
import { until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type MetricFamily, readPrometheusText, type Sample, sampleOf } from '../../support/prometheus-text.js';
import { breaksOffAfter, calls, HeldReply, refuses, says } from '../../support/scripted-models.js';
import { during, endlessTool, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

/** Failed credentials that are allowed for an address. */
const CREDENTIALS = 60;

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

afterEach(() => {
  jest.restoreAllMocks();
});

async function scraped(): Promise<ReadonlyMap<string, MetricFamily>> {
  const { status, text } = await service.http('GET', '/metrics');
  expect(status).toBe(200);
  return readPrometheusText(text);
}

/** @returns a function that returns which series of the counter have grown since, and by how much */
async function counting(name: string, label: string): Promise<() => Promise<Record<string, number>>> {
  const valuesOf = async (): Promise<Map<string, number>> => {
    const samples: readonly Sample[] = (await scraped()).get(name)?.samples ?? [];
    return new Map(samples.map(({ labels, value }) => [JSON.stringify(labels), value]));
  };
  const before = await valuesOf();
  return async () => {
    const grown = [...(await valuesOf())].map(
      ([labels, value]) => [labels, value - (before.get(labels) ?? 0)] as const,
    );
    return Object.fromEntries(
      grown
        .filter(([, by]) => by > 0)
        .map(([labels, by]) => [(JSON.parse(labels) as Sample['labels'])[label] ?? '', by]),
    );
  };
}

describe('the jobs', () => {
  it('are read from the database at most once in five seconds', async () => {
    const depths = jest.spyOn(service.app.get(OutboxStore), 'depths');
    await clock.advance(COUNT_KEPT_MS);
    await Promise.all(Array.from({ length: 10 }, scraped));
    await clock.advance(COUNT_KEPT_MS - 1);
    await scraped();
    expect(depths).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    await scraped();
    expect(depths).toHaveBeenCalledTimes(2);
  });

  it('are left out if the database fails, and are not read more often then', async () => {
    await clock.advance(COUNT_KEPT_MS);
    const depths = jest.spyOn(service.app.get(OutboxStore), 'depths').mockRejectedValue(new Error('away'));
    for (const families of [await scraped(), await scraped()]) {
      expect(sampleOf(families, 'agent_service_jobs_up')).toBe(0);
      for (const name of [
        'agent_service_jobs',
        'agent_service_job_oldest_due_seconds',
        'agent_service_outbox_lag_seconds',
      ]) {
        expect(families.get(name)?.samples).toEqual([]);
      }
    }
    expect(depths).toHaveBeenCalledTimes(1);
  });

  it('delay the response by at most two seconds; all other metrics are present', async () => {
    await clock.advance(COUNT_KEPT_MS);
    const slow = Promise.withResolvers<[]>();
    const depths = jest.spyOn(service.app.get(OutboxStore), 'depths').mockReturnValue(slow.promise);
    const scraping = scraped();
    await until(() => depths.mock.calls.length > 0, 'the database is queried');
    await clock.advance(COUNT_TIMEOUT_MS);
    const families = await scraping;
    expect(sampleOf(families, 'agent_service_jobs_up')).toBe(0);
    expect(families.get('agent_service_jobs')?.samples).toEqual([]);
    expect(sampleOf(families, 'agent_service_open_streams')).toBe(0);
    slow.resolve([]);
    expect(sampleOf(await scraped(), 'agent_service_jobs_up')).toBe(1);
    expect(depths).toHaveBeenCalledTimes(1);
  });
});

describe('a call of a tool', () => {
  const OUTCOMES = ['agent_service_tool_calls_total', 'outcome'] as const;
  const durations = async (): Promise<number> =>
    sampleOf(await scraped(), 'agent_service_tool_call_seconds_count', { kind: 'tool' }) ?? 0;

  it('that fails, throws or names no tool is an error', async () => {
    const talk = await Talk.start(service);
    const fails = tool('fails', () => Promise.resolve({ output: 'no', isError: true }), 'exempt');
    const throws = tool('throws', () => Promise.reject(new Error('broken')), 'exempt');
    during(talk.threadId, { tools: [fails, throws, tool('works', () => output('yes'), 'exempt')] });
    service.models.next(
      calls('fails', {}),
      calls('throws', {}),
      calls('invented', {}),
      calls('works', {}),
      says('Done.'),
    );
    const [counted, before] = [await counting(...OUTCOMES), await durations()];
    expect(await talk.run('Go')).toMatchObject({ body: { run: { status: 'completed' } } });
    expect(await counted()).toEqual({ error: 3, ok: 1 });
    expect((await durations()) - before).toBeGreaterThanOrEqual(3);
  });

  it('counts as waiting for approval, and again when it is declined or made', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    const [counted, before] = [await counting(...OUTCOMES), await durations()];
    for (const answer of [decline, approve]) {
      service.models.next(calls('pay', { sum: 5 }));
      const { body } = await talk.run('Pay');
      service.models.next(says('As you like.'));
      await talk.resume(...body.interrupts.map((interrupt) => answer(interrupt)));
    }
    expect(await counted()).toEqual({ awaiting_approval: 2, denied: 1, ok: 1 });
    expect((await durations()) - before).toBe(1);
  });

  it('that a hook refuses counts as denied', async () => {
    const talk = await Talk.start(service);
    const pay = new NotingTool('pay', 'exempt');
    during(talk.threadId, {
      tools: [pay.offered],
      hooks: { beforeToolCall: () => Promise.resolve({ decision: 'deny', reason: 'No' }) },
    });
    service.models.next(calls('pay', {}), says('I may not.'));
    const counted = await counting(...OUTCOMES);
    await talk.run('Pay');
    expect(await counted()).toEqual({ denied: 1 });
  });

  it('that was active when the run was cancelled counts as unknown', async () => {
    const talk = await Talk.start(service);
    const slow = endlessTool('exempt');
    during(talk.threadId, { tools: [slow.offered] });
    service.models.next(calls('slow', {}));
    const [counted, ended, before] = [
      await counting(...OUTCOMES),
      await counting('agent_service_runs_total', 'status'),
      await durations(),
    ];
    const streaming = talk.streamed('Go');
    await slow.called;
    const run = await talk.storedRun();
    await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key });
    await streaming;
    expect(await counted()).toEqual({ unknown: 1 });
    expect(await ended()).toEqual({ cancelled: 1 });
    expect(await durations()).toBe(before);
  });
});

it('a failed run is counted by the code of its error, and no other run is', async () => {
  const talk = await Talk.start(service);
  const [failed, statuses] = [
    await counting('agent_service_failed_runs_total', 'code'),
    await counting('agent_service_runs_total', 'status'),
  ];
  service.models.next(says('Fine.'), breaksOffAfter('Half'), refuses(401));
  for (const text of ['Hi', 'Break', 'Refuse']) await talk.run(text);
  expect(await failed()).toEqual({ provider_error: 1, provider_auth: 1 });
  expect(await statuses()).toEqual({ completed: 1, failed: 2 });
});

it("a failed run on a customer's own key is the customer's, and any other the operator's", async () => {
  const talk = await Talk.start(service, { provider: { type: 'anthropic', useOwnApiKey: true, apiKey: 'wrong' } });
  const causes = await counting('agent_service_failed_runs_total', 'cause');
  service.models.next(refuses(401));
  expect((await talk.run('Refuse')).status).toBe(422);
  expect(await causes()).toEqual({ customer: 1 });
  service.models.next(refuses(401));
  await (await talk.withAnotherAgent()).run('Refuse');
  expect(await causes()).toEqual({ customer: 1, operator: 1 });
});

it('active runs and streams are counted', async () => {
  const activeCounts = async (): Promise<(number | undefined)[]> => {
    const families = await scraped();
    return ['agent_service_active_runs', 'agent_service_open_streams'].map((name) => sampleOf(families, name));
  };
  const talks = [await Talk.start(service), await Talk.start(service)] as const;
  const held = [new HeldReply(['Half']), new HeldReply(['Half'])] as const;
  expect(await activeCounts()).toEqual([0, 0]);
  service.models.next(held[0].script);
  const streaming = talks[0].streamed('Hi');
  await held[0].asked;
  expect(await activeCounts()).toEqual([1, 1]);
  service.models.next(held[1].script);
  const waiting = talks[1].run('Hi');
  await held[1].asked;
  expect(await activeCounts()).toEqual([2, 1]);
  held[0].finish();
  await streaming;
  held[1].finish();
  await waiting;
  await until(async () => (await activeCounts()).every((count) => count === 0), 'no run or stream is active');
});

it('a refused request is counted for the limit that refused it', async () => {
  const {
    key,
    organization: { id },
    agentId,
    path,
  } = await Talk.start(service);
  const counted = await counting('agent_service_limit_refusals_total', 'limit');
  const storage = service.app.get<ThrottlerStorage>(ThrottlerStorage);
  await useUpBudget(storage, `chat:${id}:${agentId}`, 600);
  await useUpBudget(storage, `traces:${id}`, 30, 'traces');
  await useUpBudget(storage, `traceExport:${id}`, 20, 'traceExport');
  const body = { message: { role: 'user', content: 'Hi' } };
  expect((await service.http('POST', `${path}/runs`, { key, body })).status).toBe(429);
  for (const list of ['traces', 'traces/export'])
    expect((await service.http('GET', `/v1/agents/${agentId}/${list}`, { key })).status).toBe(429);
  expect(await counted()).toEqual({ chat: 1, traces: 1, trace_export: 1 });
  for (let failed = 0; failed < CREDENTIALS; failed += 1)
    await service.http('GET', '/v1/agents', { key: `ak_${newId()}` });
  expect((await service.http('GET', '/v1/agents', { key: `ak_${newId()}` })).status).toBe(429);
  expect(await counted()).toMatchObject({ failed_credentials: 1 });
});
