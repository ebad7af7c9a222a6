import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from 'pg';
import { COUNT_KEPT_MS } from '../../src/platform/jobs/limits.js';
import { useDatabaseOutages } from '../support/database-outages.js';
import { type Answer, message, until } from '../support/harness.js';
import { heldRun } from '../support/held-run.js';
import { clusterOnly } from '../support/modes.js';
import { type MetricFamily, readPrometheusText, sampleOf } from '../support/prometheus-text.js';
import { says } from '../support/scripted-models.js';
import { Talk } from '../support/talk.js';
import { connectToTestDatabase } from '../support/test-database.js';

clusterOnly('with a database server', () => {
  const { clock, service, server, makeUnavailable, passing } = useDatabaseOutages();

  describe('a database that is unreachable', () => {
    it.each(['cut', 'stalled'] as const)(
      '(the connection %s) answers 503 within two seconds, and serves as before once it is back',
      async (how) => {
        const talk = await Talk.start(service);
        service.models.always(says('Hello'));
        await talk.run('Warm');
        const bringBack = await makeUnavailable(how);

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
        expect(Date.now() - began).toBeLessThan(25_000);
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

  describe('what the service measures', () => {
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
        const bringBack = await makeUnavailable(how);
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

  describe('a way to the database that loses an answer', () => {
    let beside: Client;

    beforeAll(async () => {
      beside = await connectToTestDatabase(service.database, server);
    });
    afterAll(() => beside.end());

    it('loses no end of a run: callers get what was stored', async () => {
      const { talk, held, running } = await heldRun(service);
      // These connections are open already; new ones would fail.
      await Promise.all(Array.from({ length: 5 }, () => service.database.query('select pg_sleep(0.05)')));

      const bringBack = await makeUnavailable('answers lost');
      held.finish();
      await until(async () => {
        const { rows } = await beside.query<{ status: string }>('select status from runs where thread_id = $1', [
          talk.threadId,
        ]);
        return rows[0]?.status === 'completed';
      }, 'the end is stored');
      await bringBack();

      expect(await passing(running)).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
      expect(await talk.storedRun()).toMatchObject({ status: 'completed' });
      service.models.next(says('Hello'));
      expect(await talk.run('Again')).toMatchObject({ status: 200 });
    });
  });
});
