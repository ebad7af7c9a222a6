import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { ConnectionWatchdog } from './connection-watchdog.js';
import type { SqlExecutor } from './database.js';
import type { MigrationSession } from './migrator.js';
import { PreparingClient } from './preparing-client.js';

/** Any constant. It makes processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_216_943_001;
const LOCK_POLL_MS = 200;
/** Long enough for a server that builds a large index to accept a new connection. */
const SILENCE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Gives `work` a connection without the service's limits, because building an index may take long, as may waiting for another
 * process that builds it. A silent server ends the migration, and so does a lost connection, which also releases the lock.
 */
export async function withMigrationSession<Result>(
  { url, name }: { readonly url: string; readonly name: string },
  silenceMs = SILENCE_MS,
  work: (session: MigrationSession) => Promise<Result>,
): Promise<Result> {
  const pool = new pg.Pool({
    connectionString: url,
    fallback_application_name: `${name} migration`,
    max: 1,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: SILENCE_MS,
    Client: PreparingClient,
  });
  pool.on('error', () => undefined);
  const watch = new ConnectionWatchdog(pool, url, { silenceMs, probeMs: silenceMs, pauseMs: silenceMs });
  try {
    const client = await pool.connect();
    try {
      return await work(new ServerSession(client));
    } finally {
      // Closes the connection, which releases the lock and forgets the settings.
      client.release(true);
    }
  } finally {
    watch.stop();
    await pool.end();
  }
}

class ServerSession implements MigrationSession {
  constructor(private readonly client: pg.PoolClient) {
    // Without a listener the loss of an idle connection would end the process; the next statement fails anyway.
    client.on('error', () => undefined);
  }

  async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(sql, [...parameters])).rows;
  }

  async transaction<Result>(work: (transaction: SqlExecutor) => Promise<Result>): Promise<Result> {
    await this.query('begin');
    try {
      const result = await work(this);
      await this.query('commit');
      return result;
    } catch (error) {
      await this.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  /** Asks again and again: building an index concurrently waits for every open statement, and so for one that waits for the lock. */
  async lock(onWait: () => void): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const [{ taken } = { taken: false }] = await this.query<{ taken: boolean }>(
        `select pg_try_advisory_lock(${MIGRATION_LOCK}) as taken`,
      );
      if (taken) return;
      if (attempt === 1) onWait();
      await setTimeout(LOCK_POLL_MS);
    }
  }
}
