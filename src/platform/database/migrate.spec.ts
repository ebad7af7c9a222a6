import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { CuttableProxy } from '../../../test/support/cuttable-proxy.js';
import { until } from '../../../test/support/job-site.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { readSettings } from '../config/index.js';
import { migrate, pendingMigrations } from './migrate.js';
import { openDatabase } from './open-database.js';
import type { OpenDatabase } from './database-handle.js';
import type { ServerLimits } from './server-database.js';
import { migration, type NamedMigration } from './schema.js';
import { clusterOnly } from '../../../test/support/modes.js';

/** Long enough for a short statement on a busy machine; only for tests of the limit. */
const STATEMENT_TIMEOUT_MS = 1_000;
const SLOW = 'select pg_sleep(1.5)';
/** A statement that ends only if it is terminated. */
const ENDLESS = 'select pg_sleep(600)';
/** Time within which a busy server must accept a new connection. */
const SILENCE_MS = 1_500;
const HOLD = 'select pg_advisory_lock(7216943001)';
const LET_GO = 'select pg_advisory_unlock(7216943001)';

const table = migration('01_table', ['create table made (id int)']);
const slow = migration('02_slow', [SLOW]);

// The embedded database has one process and no limits of statements.

clusterOnly('migrating a database server', () => {
  let empty: TestDatabase;
  /** Another client of the same database. */
  let other: Client;
  const opened: OpenDatabase[] = [];

  beforeEach(async () => {
    empty = await openTestDatabase([]);
    other = new Client({ connectionString: empty.url });
    await other.connect();
  });
  afterEach(async () => {
    for (const open of opened.splice(0)) await open.close();
    await other.end();
    await empty.close();
  });

  async function open(
    migrations: readonly NamedMigration[],
    limits: ServerLimits = {},
    url = empty.url,
  ): Promise<OpenDatabase> {
    const environment = { DATABASE_URL: url, SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
    const settings = readSettings(environment, { role: 'all', demo: false });
    const made = await openDatabase(settings, [{ entities: [], migrations }], limits);
    opened.push(made);
    return made;
  }

  /** Resolves once a connection of the database runs the statement. */
  async function running(statement: string): Promise<number> {
    let pid: number | undefined;
    await until(async () => {
      const { rows } = await other.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and state = 'active' and query = $1`,
        [statement],
      );
      pid = rows[0]?.pid;
      return pid !== undefined;
    });
    return pid ?? 0;
  }

  async function made(): Promise<boolean> {
    const { rows } = await other.query<{ made: boolean }>(`select to_regclass('made') is not null as made`);
    return rows[0]?.made === true;
  }

  it('is not limited by the timeouts of the service or of its role', async () => {
    await other.query(
      `do $$ begin execute format('alter database %I set statement_timeout = 200', current_database()); end $$`,
    );
    const database = await open([table, slow], { statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    await expect(database.database.query(SLOW)).rejects.toThrow('cannot reach its database');
    expect(await migrate(database)).toEqual(['01_table', '02_slow']);
    expect(await pendingMigrations(await open([table, slow]))).toEqual([]);
  });

  it('waits for another process without a limit, and calls onWait', async () => {
    await other.query(HOLD);
    const database = await open([table], { statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    const reported: string[] = [];
    const migrating = migrate(database, () => reported.push('waits'));
    await until(() => reported.length > 0);
    await other.query(SLOW);
    expect(await made()).toBe(false);
    await other.query(LET_GO);
    expect(await migrating).toEqual(['01_table']);
    expect(reported).toEqual(['waits']);
    expect(await migrate(database, () => reported.push('waits'))).toEqual([]);
    expect(reported).toEqual(['waits']);
  });

  it('migrates an empty database once if several processes start together', async () => {
    const ran = await Promise.all(
      [open([table, slow]), open([table, slow]), open([table, slow])].map(async (each) => migrate(await each)),
    );
    expect(ran.sort((left, right) => left.length - right.length)).toEqual([[], [], ['01_table', '02_slow']]);
  });

  it('changes nothing and releases the lock if it fails', async () => {
    const broken = await open([table, migration('02_broken', ['select 1/0'])]);
    await expect(migrate(broken)).rejects.toThrow('division by zero');
    expect(await made()).toBe(false);
    expect(await migrate(await open([table]))).toEqual(['01_table']);
  });

  it('does not continue if it loses the connection with the lock', async () => {
    const database = await open([
      table,
      migration('02_endless', [ENDLESS]),
      migration('03_after', ['create table after_it (id int)']),
    ]);
    const migrating = migrate(database);
    migrating.catch(() => undefined);
    await other.query('select pg_terminate_backend($1)', [await running(ENDLESS)]);
    await expect(migrating).rejects.toThrow(/terminat/i);
    expect(await made()).toBe(false);
    expect(await pendingMigrations(database)).toHaveLength(3);
    expect(await migrate(await open([table]))).toEqual(['01_table']);
  });

  it('ends if the server is silent, and not if it is only slow', async () => {
    const url = new URL(empty.url ?? '');
    const proxy = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    try {
      // Longer than a server may be silent; it still accepts new connections.
      const lengthy = migration('02_lengthy', ['select pg_sleep(4)']);
      const patient = await open([table, lengthy], { migrationSilenceMs: SILENCE_MS }, url.href);
      expect(await migrate(patient)).toHaveLength(2);

      await other.query(HOLD);
      const database = await open(
        [table, lengthy, migration('03_more', [SLOW])],
        { migrationSilenceMs: SILENCE_MS },
        url.href,
      );
      const migrating = migrate(database, () => proxy.stall('everything'));
      await expect(migrating).rejects.toThrow(/terminat/i);
    } finally {
      proxy.cut();
      await Promise.all(opened.splice(0).map((each) => each.close()));
      await proxy.close();
    }
  });
});

describe('migrating', () => {
  let database: TestDatabase;
  afterAll(() => database.close());

  it('runs pending migrations once', async () => {
    database = await openTestDatabase([{ entities: [], migrations: [table] }]);
    expect(await pendingMigrations(database)).toEqual([]);
    expect(await migrate(database)).toEqual([]);
    await database.database.query('insert into made (id) values (1)');
  });
});
