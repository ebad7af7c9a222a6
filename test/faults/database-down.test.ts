import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Client } from 'pg';
import { STORE_AGAIN_MS, STORE_PAUSE_MS, STORE_ATTEMPTS } from '../../src/conversations/engine/limits.js';
import { RunOwner } from '../../src/conversations/engine/run-owner.js';
import { RunRepository } from '../../src/conversations/persistence/run.repository.js';
import { DatabaseUnavailable } from '../../src/platform/database/index.js';
import { COUNT_KEPT_MS } from '../../src/platform/jobs/limits.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../support/approvals.js';
import { countingRuns } from '../support/counted-runs.js';
import { type Answer, message, startService, type TestService, until } from '../support/harness.js';
import { ManualClock } from '../support/manual-clock.js';
import { clusterOnly } from '../support/modes.js';
import { type MetricFamily, readPrometheusText, sampleOf } from '../support/prometheus-text.js';
import { anthropicWire } from '../support/provider-wire.js';
import { refuseRows } from '../support/refuse-rows.js';
import { calls, HeldReply, refuses, says } from '../support/scripted-models.js';
import { during, scriptedRuns } from '../support/scripted-runs.js';
import { endOf, Talk } from '../support/talk.js';
import { connectToTestDatabase } from '../support/test-database.js';
import { CuttableProxy } from '../support/cuttable-proxy.js';

const SERVER = process.env['TEST_MODE'] === 'cluster' ? process.env['DATABASE_URL'] : undefined;

const clock = new ManualClock();
let service: TestService;
/** The proxy in front of the database, if it is a server. */
let proxy: CuttableProxy | undefined;

beforeAll(async () => {
  if (SERVER !== undefined) {
    const url = new URL(SERVER);
    proxy = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    process.env['DATABASE_URL'] = url.href;
  }
  service = await startService({ clock, extensions: scriptedRuns });
});
afterAll(async () => {
  await service.close();
  await proxy?.close();
});
beforeEach(() => {
  service.models.reset();
});

/** The embedded database cannot become unreachable, but it can refuse statements, as with a full disk. */
function refuseEnds(): Promise<BringBack> {
  return refuseRows(service.database, {
    change: 'update',
    on: 'runs',
    when: "new.status <> 'running'",
    error: 'disk_full',
  });
}

type BringBack = () => Promise<unknown>;

/** Makes the database unreachable; the returned function brings it back. */
async function softDelete(how: 'cut' | 'stalled' = 'cut'): Promise<BringBack> {
  if (!proxy) return refuseEnds();
  const way = proxy;
  if (how === 'cut') way.cut();
  else way.stall('everything');
  return () => {
    // Bytes under way when the network failed are lost and do not arrive late.
    way.cut();
    way.restore();
    return Promise.resolve();
  };
}

/** Waits for the stored end, which the service tries again every two seconds. */
async function untilStored(talk: Talk): Promise<void> {
  await until(async () => {
    await clock.advance(STORE_AGAIN_MS);
    return (await talk.storedRun().catch(() => undefined))?.status === 'failed';
  }, 'the end of the run is stored');
}

/**
 * The result of `work` while the clock advances, since the service pauses between attempts to store an end. Slow enough
 * that the run does not time out on a busy machine.
 */
async function passing<Value>(work: Promise<Value>): Promise<Value> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  work.then(settle, settle);
  await until(
    async () => {
      if (!settled) await clock.advance(STORE_PAUSE_MS);
      return settled;
    },
    'the run ends',
    { everyMs: 25 },
  );
  return work;
}

describe('a database that is unreachable when a run ends', () => {
  it('causes RUN_ERROR internal and 500, and the end is stored when it is back', async () => {
    const [streamed, waited] = [await Talk.start(service), await Talk.start(service)];
    const [first, second] = [new HeldReply(['Half'], [' and half']), new HeldReply(['Half'], [' and half'])];
    service.models.next(first.script);
    const streaming = streamed.streamed('Hi');
    await first.asked;
    service.models.next(second.script);
    const waiting = waited.run<Record<string, unknown>>('Hi');
    await second.asked;

    const bringBack = await softDelete();
    for (const held of [first, second]) held.finish();

    expect(endOf(await passing(streaming))).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(await passing(waiting)).toMatchObject({ status: 500, body: { error: 'Internal Server Error' } });
    await bringBack();
    for (const talk of [streamed, waited]) {
      await untilStored(talk);
      expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
      expect((await talk.messages())[1]).toMatchObject({ content: 'Half and half', status: 'incomplete' });
      expect(await talk.trace()).toMatchObject({ status: 'failed' });
      service.models.next(says('Back'));
      expect(await talk.run('Again')).toMatchObject({ status: 200 });
    }
  });

  it('keeps the thread busy until the end is stored', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const streaming = talk.streamed('Hi');
    await held.asked;
    const restore = await refuseEnds();
    held.finish();
    await passing(streaming);
    await clock.advance(STORE_AGAIN_MS);
    expect(await talk.run('Too early')).toMatchObject({ status: 409, body: { code: 'thread_busy' } });
    await restore();
    await untilStored(talk);
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Half.', 'user: Again', 'assistant: Back']);
  });
});

describe('an end that the database has stored, with the response lost', () => {
  /**
   * The next end is stored, but its statement fails as if the database were unreachable; `more` attempts are refused.
   */
  function loseAnswer(more = 0): void {
    const runs = service.app.get(RunRepository);
    const finish = runs.finish.bind(runs);
    const lost = jest.spyOn(runs, 'finish').mockImplementationOnce(async (...end) => {
      await finish(...end);
      throw new DatabaseUnavailable(new Error('The answer was lost'));
    });
    for (let tries = 0; tries < more; tries += 1)
      lost.mockRejectedValueOnce(new DatabaseUnavailable(new Error('Away')));
  }

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is what the waiting caller, the stream and the next run get', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('First'), says('Second'), says('Third'));
    await talk.run('one');
    const counted = await countingRuns(service);

    loseAnswer();
    const waited = await passing(talk.run('two'));
    expect(waited).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'Second' } },
    });
    loseAnswer();
    const events = await passing(talk.streamed('three'));

    const stored = await talk.storedRun();
    expect(stored).toMatchObject({ status: 'completed', error: null });
    expect(await counted()).toEqual([{ completed: 2 }]);
    const { body } = await talk.storedAs(stored?.id ?? '');
    expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', result: { run: body.run, message: body.message } });
    service.models.next(says('Fourth'));
    await talk.run('four');
    const { messages } = service.models.requests.at(-1)?.body as { messages: unknown[] };
    expect(JSON.stringify(messages)).toMatch(/one.*First.*two.*Second.*three.*Third.*four/);
    expect(messages).toHaveLength(7);
  });

  it('keeps its requests for approval', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay', { sum: 5 }));

    loseAnswer();
    const asked = await passing(talk.run('Pay'));

    expect(asked).toMatchObject({
      status: 200,
      body: { run: { status: 'requires_action' }, interrupts: [{ toolCallId: 'call_pay' }] },
    });
    service.models.next(says('Paid.'));
    expect(await talk.resume(...asked.body.interrupts.map(approve))).toMatchObject({ status: 200 });
    expect(pay.inputs).toEqual([{ sum: 5 }]);
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toMatchObject([{ id: 'call_pay' }]);
  });

  it('keeps the provider’s failure if it was one', async () => {
    const talk = await Talk.start(service);
    service.models.next(refuses(401));
    loseAnswer();
    expect(await passing(talk.run<{ code: string }>('Hi'))).toMatchObject({
      status: 502,
      body: { code: 'provider_auth' },
    });
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } });
  });

  it('needs no further attempt once it is found, even after its caller got an error', async () => {
    const talk = await Talk.start(service);
    const counted = await countingRuns(service);
    service.models.next(says('Hello'));
    loseAnswer(STORE_ATTEMPTS - 1);
    expect(await passing(talk.run<object>('Hi'))).toMatchObject({ status: 500 });
    expect(service.app.get(RunOwner).unsettled.size).toBe(1);
    await until(async () => {
      await clock.advance(STORE_AGAIN_MS);
      return service.app.get(RunOwner).unsettled.size === 0;
    }, 'the end is found');
    expect(await talk.storedRun()).toMatchObject({ status: 'completed' });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
    await until(async () => Object.keys((await counted())[0] ?? {}).length > 0, 'the run is counted');
    expect(await counted()).toEqual([{ completed: 1 }]);
  });
});

clusterOnly('a database that is unreachable', () => {
  it.each(['cut', 'stalled'] as const)(
    '(the connection %s) answers 503 within two seconds, and serves as before once it is back',
    async (how) => {
      const talk = await Talk.start(service);
      service.models.always(says('Hello'));
      await talk.run('Warm');
      const bringBack = await softDelete(how);

      const send = (method: string, path: string, body?: object): Promise<Answer> =>
        service.http(method, path, { key: talk.key, ...(body ? { body } : {}) });
      const began = Date.now();
      const answers = await Promise.all([
        send('POST', `${talk.path}/runs`, message('Hi')),
        send('POST', `${talk.path}/runs/stream`, message('Hi')),
        send('GET', `${talk.path}/messages`),
        send('POST', '/v1/threads', { assistant_id: talk.agentId }),
      ]);
      // Generous for a busy machine, but below the limit of the longest statement, thirty seconds.
      expect(Date.now() - began).toBeLessThan(12_000);
      for (const { status, body, headers } of answers) {
        expect({ status, error: body['error'] }).toEqual({ status: 503, error: 'service_unavailable' });
        expect(headers.get('retry-after')).toBe('2');
      }
      await bringBack();
      expect(await talk.run('Again')).toMatchObject({ status: 200 });
      expect(await talk.lines()).toEqual(['user: Warm', 'assistant: Hello', 'user: Again', 'assistant: Hello']);
    },
  );

  it('leaks no connection: the service survives more outages than it has connections', async () => {
    const talk = await Talk.start(service);
    service.models.always(says('Hello'));
    for (let round = 0; round < 15; round += 1) {
      const broken = service.database.transaction(async (transaction) => {
        await transaction.query('select pg_terminate_backend(pg_backend_pid())');
      });
      await expect(broken).rejects.toThrow('cannot reach its database');
    }
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
  });
});

clusterOnly('what the service measures', () => {
  async function scraped(): Promise<ReadonlyMap<string, MetricFamily>> {
    const { status, text } = await service.http('GET', '/metrics');
    expect(status).toBe(200);
    return readPrometheusText(text);
  }

  function connections(families: ReadonlyMap<string, MetricFamily>): readonly (number | undefined)[] {
    return ['total', 'idle', 'waiting'].map((state) =>
      sampleOf(families, 'agent_service_database_connections', { state }),
    );
  }

  it.each(['cut', 'stalled'] as const)(
    'lacks the jobs while the database is unreachable (%s), and has them when it is back',
    async (how) => {
      await clock.advance(COUNT_KEPT_MS);
      const bringBack = await softDelete(how);
      const away = await passing(scraped());
      await bringBack();
      expect([sampleOf(away, 'agent_service_jobs_up'), sampleOf(away, 'agent_service_outbox_lag_seconds')]).toEqual([
        0,
        undefined,
      ]);
      expect(away.get('agent_service_jobs')?.samples).toEqual([]);
      expect(sampleOf(away, 'agent_service_active_runs')).toBe(0);
      await until(async () => {
        await clock.advance(COUNT_KEPT_MS);
        return sampleOf(await passing(scraped()), 'agent_service_jobs_up') === 1;
      }, 'the jobs are counted again');
    },
  );

  it('have the pool: connections in use, and waiting requests', async () => {
    // Counted now, so that the request below waits for no connection.
    await clock.advance(COUNT_KEPT_MS);
    await passing(scraped());
    const held = Promise.withResolvers<undefined>();
    const POOL = 10;
    const holding = Array.from({ length: POOL + 2 }, () => service.database.transaction(() => held.promise));
    await until(async () => (connections(await scraped())[2] ?? 0) >= 2, 'the pool is used up');
    expect(connections(await scraped()).slice(0, 2)).toEqual([POOL, 0]);
    held.resolve(undefined);
    await Promise.all(holding);
    await until(async () => connections(await scraped())[2] === 0, 'no request waits');
    expect(connections(await scraped())[1]).toBeGreaterThan(0);
  });
});

clusterOnly('a way to the database that loses an answer', () => {
  let beside: Client;

  beforeAll(async () => {
    beside = await connectToTestDatabase(service.database, SERVER);
  });
  afterAll(() => beside.end());

  it('loses no end of a run: callers get what was stored', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    // These connections are open already; new ones would fail.
    await Promise.all(Array.from({ length: 5 }, () => service.database.query('select pg_sleep(0.05)')));

    proxy?.stall('answers');
    held.finish();
    await until(async () => {
      const { rows } = await beside.query<{ status: string }>('select status from runs where thread_id = $1', [
        talk.threadId,
      ]);
      return rows[0]?.status === 'completed';
    }, 'the end is stored');
    proxy?.cut();
    proxy?.restore();

    expect(await passing(running)).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
    expect(await talk.storedRun()).toMatchObject({ status: 'completed' });
    service.models.next(says('Hello'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
  });
});
