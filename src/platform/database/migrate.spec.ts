import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { CuttableProxy } from '../../../test/support/cuttable-proxy.js';
import { until } from '../../../test/support/job-site.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { readSettings, RELEASE } from '../config/index.js';
import { migrate, pendingMigrations } from './migrate.js';
import { type MigrationSession, Migrator } from './migrator.js';
import { openDatabase } from './open-database.js';
import { REPLACED_MIGRATIONS } from './replaced-migrations.js';
import { SchemaRefusal, schemaState } from './schema-state.js';
import type { OpenDatabase } from './database-handle.js';
import type { ServerLimits } from './server-database.js';
import { BASE, contraction, indexMigration, migration, type NamedMigration } from './schema.js';
import { clusterOnly } from '../../../test/support/modes.js';

/** Long enough for a short statement on a busy machine; only for tests of the limit. */
const STATEMENT_TIMEOUT_MS = 1_000;
const SLOW = 'select pg_sleep(1.5)';
/** A statement that ends only if it is terminated. */
const ENDLESS = 'select pg_sleep(600)';
/** Time within which a busy server must accept a new connection. */
const SILENCE_MS = 3_000;
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

  async function exists(relation: string): Promise<boolean> {
    const { rows } = await other.query<{ made: boolean }>('select to_regclass($1) is not null as made', [relation]);
    return rows[0]?.made === true;
  }

  async function isValid(index: string): Promise<boolean | undefined> {
    const { rows } = await other.query<{ valid: boolean }>(
      'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
      [index],
    );
    return rows[0]?.valid;
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
    expect(await exists('made')).toBe(false);
    await other.query(LET_GO);
    expect(await migrating).toEqual(['01_table']);
    expect(reported).toEqual(['waits']);
    expect(await migrate(database, () => reported.push('waits'))).toEqual([]);
    expect(reported).toEqual(['waits']);
  });

  it('is refused when the process that it waits for has made the tables too new for it', async () => {
    const base = migration(BASE, ['create table made (id int)']);
    const next = migration('2026120100_next', ['create table next (id int)']);
    const newer = await open([base, next, contraction('2027010100_removed', next.name, ['drop table made'])]);
    const older = await open([base]);
    const run: OpenDatabase['migrations']['run'] = async (onWait) => {
      await migrate(newer);
      return older.migrations.run(onWait);
    };
    await expect(migrate({ ...older, migrations: { ...older.migrations, run } })).rejects.toThrow(SchemaRefusal);
  });

  it('migrates an empty database once if several processes start together', async () => {
    const ran = await Promise.all(
      [open([table, slow]), open([table, slow]), open([table, slow])].map(async (each) => migrate(await each)),
    );
    expect(ran.sort((left, right) => left.length - right.length)).toEqual([[], [], ['01_table', '02_slow']]);
  });

  it('keeps the migrations before the one that fails, changes nothing for that one, and releases the lock', async () => {
    const broken = await open([table, migration('02_broken', ['create table part (id int)', 'select 1/0'])]);
    await expect(migrate(broken)).rejects.toThrow('division by zero');
    expect([await exists('made'), await exists('part')]).toEqual([true, false]);
    expect(await migrate(await open([table, slow]))).toEqual(['02_slow']);
  });

  it('does not continue if it loses the connection with the lock', async () => {
    const database = await open([
      table,
      migration('02_endless', ['create table part (id int)', ENDLESS]),
      migration('03_after', ['create table after_it (id int)']),
    ]);
    const migrating = migrate(database);
    migrating.catch(() => undefined);
    await other.query('select pg_terminate_backend($1)', [await running(ENDLESS)]);
    await expect(migrating).rejects.toThrow(/terminat/i);
    expect([await exists('part'), await exists('after_it')]).toEqual([false, false]);
    expect(await pendingMigrations(database)).toEqual(['02_endless', '03_after']);
    expect(await migrate(await open([table, slow]))).toEqual(['02_slow']);
  });

  it('waits for a locked table in short attempts, between which statements of the service go through', async () => {
    await migrate(await open([table]));
    await other.query('begin');
    await other.query('lock table made in access share mode');
    const widening = await open([table, migration('02_widen', ['alter table made add column more int'])]);
    const migrating = migrate(widening);
    // Each of these queues behind an attempt, for as long as the attempt lasts.
    const waits: number[] = [];
    for (let read = 0; read < 40; read += 1) {
      const sentAt = performance.now();
      await widening.database.query('select id from made');
      waits.push(performance.now() - sentAt);
      await setTimeout(25);
    }
    await other.query('commit');
    expect(await migrating).toEqual(['02_widen']);
    // Otherwise as long as the table is locked, which is longer than all reads take. A machine may be slow by itself.
    expect(Math.max(...waits)).toBeLessThan(2_000);
    expect(Math.max(...waits)).toBeGreaterThan(100);
  });

  it('builds an index while other transactions write to its table', async () => {
    await migrate(await open([table]));
    const writer = new Client({ connectionString: empty.url });
    await writer.connect();
    await writer.query('begin');
    await writer.query('insert into made values (1)');
    const indexing = migrate(await open([table, indexMigration('02_index', 'made_by_id', 'on made (id)')]));
    await running('create index concurrently if not exists made_by_id on made (id)');
    await other.query('insert into made values (2)');
    await writer.query('commit');
    await writer.end();
    expect(await indexing).toEqual(['02_index']);
    expect(await isValid('made_by_id')).toBe(true);
  });

  it('builds an index again whose building was interrupted', async () => {
    await migrate(await open([table]));
    await other.query('insert into made values (1), (1)');
    const index = indexMigration('02_index', 'made_by_id', 'on made (id)', 'unique');
    await expect(migrate(await open([table, index]))).rejects.toThrow('could not create unique index');
    expect(await isValid('made_by_id')).toBe(false);
    await other.query('truncate made');
    expect(await migrate(await open([table, index]))).toEqual(['02_index']);
    expect(await isValid('made_by_id')).toBe(true);
  });

  it('ends if the server is silent, and not if it is only slow', async () => {
    const url = new URL(empty.url ?? '');
    const proxy = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    try {
      // Longer than a server may be silent; it still accepts new connections.
      const lengthy = migration('02_lengthy', ['select pg_sleep(8)']);
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
  afterEach(() => database.close());

  it('runs pending migrations once, and builds indexes', async () => {
    database = await openTestDatabase([
      { entities: [], migrations: [table, indexMigration('02_index', 'made_by_id', 'on made (id)')] },
    ]);
    expect(await pendingMigrations(database)).toEqual([]);
    expect(await migrate(database)).toEqual([]);
    await database.database.query('insert into made (id) values (1)');
    const [index] = await database.database.query<{ made: boolean }>(
      `select to_regclass('made_by_id') is not null as made`,
    );
    expect(index).toEqual({ made: true });
  });
});

/** Builds with other lists of migrations look at one database. */
describe('the tables of another release', () => {
  const base = migration(BASE, ['create table made (id int)']);
  const added = migration('2026120100_added', ['alter table made add column more int']);
  const removed = contraction('2027010100_removed', added.name, ['alter table made drop column more']);
  let database: TestDatabase;
  afterEach(() => database.close());

  const stateOf = (...all: NamedMigration[]) => schemaState(database.database, all);

  it('are used by a build that they still fit, which runs nothing', async () => {
    database = await openTestDatabase([{ entities: [], migrations: [base, added] }]);
    expect(await stateOf(base)).toEqual({ pending: [], refusal: undefined, isReadOnly: false });
  });

  it('are refused by a build that lacks what the newest one needs, naming both versions', async () => {
    database = await openTestDatabase([{ entities: [], migrations: [base, added, removed] }]);
    expect(await stateOf(base)).toEqual({
      pending: [],
      refusal:
        'The database is at 2027010100_removed (release 1.0.0), and this build is at 2026112900_base (release 1.0.0): ' +
        'builds without 2026120100_added may not use it. Start the newer release',
      isReadOnly: false,
    });
    expect(await stateOf(base, added)).toEqual({ pending: [], refusal: undefined, isReadOnly: false });
    const old = { ...database, migrations: { ...database.migrations, all: [base] } };
    await expect(migrate(old)).rejects.toThrow(SchemaRefusal);
    await expect(pendingMigrations(old)).rejects.toThrow(SchemaRefusal);
  });

  it('are refused when they are older than the base, unless all that it replaces has run', async () => {
    database = await openTestDatabase([{ entities: [], migrations: [migration('2026112101_old', [])] }]);
    const all = [base, added];
    expect((await stateOf(...all)).refusal).toMatch(
      'The database is at 2026112101_old, which is older than this build (release 1.0.0) can migrate: start the release',
    );
    await database.database.query('insert into schema_migrations (name) select unnest($1::text[])', [
      REPLACED_MIGRATIONS,
    ]);
    expect(await stateOf(...all)).toEqual({ pending: [added.name], refusal: undefined, isReadOnly: false });
  });
});

describe('a database of another application', () => {
  const base = migration(BASE, ['create table made (id int)']);
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openTestDatabase([]);
  });
  afterEach(() => database.close());

  /** The same database with the migrations of a service. */
  const withBase = async (): Promise<OpenDatabase> => {
    const session: MigrationSession = {
      query: (sql, parameters) => database.database.query(sql, parameters),
      transaction: (work) => database.database.transaction(work),
      lock: () => Promise.resolve(),
    };
    return { ...database, migrations: { all: [base], run: (onWait) => new Migrator([base], session).run(onWait) } };
  };

  it('is refused in one line when it has a list of migrations of its own', async () => {
    await database.database.query('create table schema_migrations (version text)');
    await expect(migrate(await withBase())).rejects.toThrow(
      /^DATABASE_URL: the database has a table schema_migrations/,
    );
  });

  it('is refused in one line when it has a table of the same name, and gets none', async () => {
    await database.database.query('create table made (id int)');
    await expect(migrate(await withBase())).rejects.toThrow(
      /^DATABASE_URL: the database has tables of another application/,
    );
    const [list] = await database.database.query<{ made: boolean }>(
      `select to_regclass('schema_migrations') is not null as made`,
    );
    expect(list).toEqual({ made: false });
  });

  it('that is empty gets the tables, and the names that the former release looks for', async () => {
    expect(await migrate(await withBase())).toEqual([BASE]);
    const rows = await database.database.query<{ name: string }>('select name from schema_migrations order by id');
    expect(rows.map(({ name }) => name)).toEqual([...REPLACED_MIGRATIONS, BASE]);
  });
});

it('the release is that of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(RELEASE).toBe(version);
});
