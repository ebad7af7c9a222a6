import type { Options } from '@mikro-orm/core';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { PreparingClient } from './preparing-client.js';
import { ConnectionWatchdog } from './connection-watchdog.js';

export type MigrationSettings = Pick<
  Options,
  'extensions' | 'forceUtcTimezone' | 'discovery' | 'logger' | 'migrations'
>;

/** Any constant. It makes processes that start together migrate one after the other. */
const MIGRATION_LOCK = 7_216_943_001;
/** Long enough for a server that builds a large index to accept a new connection. */
const SILENCE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 2_000;

/** Timeouts that the operator may have set on the role or the database: they are for the service, not for migrations. */
const NO_LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];

/**
 * Migrates on separate connections without the service's limits, because building an index may take long, as may waiting for
 * another process that builds it. A silent server ends the migration.
 */
export class MigrationConnections {
  constructor(
    readonly names: readonly string[],
    private readonly settings: MigrationSettings,
    private readonly url: string,
    private readonly silenceMs = SILENCE_MS,
  ) {}

  /**
   * The lock and all migrations are one transaction on one connection: a lost connection releases the lock and rolls the
   * migrations back, so that none continues without the lock.
   */
  async run(onWait: () => void): Promise<string[]> {
    const { orm, close } = await this.open();
    try {
      const connection = orm.em.getConnection();
      return await connection.transactional(async (transaction) => {
        const rowsOf = <Row>(sql: string): Promise<Row[]> => connection.execute<Row[]>(sql, [], 'all', transaction);
        for (const limit of NO_LIMITS) await rowsOf(`set local ${limit} = 0`);
        const [attempt] = await rowsOf<{ taken: boolean }>(
          `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as taken`,
        );
        if (attempt?.taken !== true) {
          onWait();
          await rowsOf(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
        }
        return (await orm.migrator.up({ transaction })).map(({ name }) => name);
      });
    } finally {
      await close();
    }
  }

  private async open(): Promise<{ orm: MikroORM; close: () => Promise<void> }> {
    const { silenceMs } = this;
    const held = new Set<PoolClient>();
    let watch: ConnectionWatchdog | undefined;
    const orm = await MikroORM.init(
      defineConfig({
        ...this.settings,
        clientUrl: this.url,
        // One for the transaction, and one on which the migrator looks for its table first.
        pool: { min: 0, max: 2 },
        driverOptions: {
          connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
          keepAlive: true,
          keepAliveInitialDelayMillis: SILENCE_MS,
          Client: PreparingClient,
          onPoolCreated: (pool: Pool) => {
            pool.on('acquire', (client) => held.add(client));
            pool.on('release', (_error, client) => held.delete(client));
            watch = new ConnectionWatchdog(pool, this.url, { silenceMs, probeMs: silenceMs, pauseMs: silenceMs });
          },
        },
      }),
    );
    return {
      orm,
      close: async () => {
        watch?.stop();
        // A transaction never releases a connection that was lost, and closing would wait for it.
        for (const client of held) client.release(true);
        await orm.close();
      },
    };
  }
}
