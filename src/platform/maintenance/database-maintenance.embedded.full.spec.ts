import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { PGlite } from '@electric-sql/pglite';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { embeddedOnly } from '../../../test/support/modes.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { until } from '../../../test/support/until.js';
import { BackgroundPace } from '../http/index.js';
import { createLogger } from '../telemetry/index.js';
import { DatabaseMaintenance } from './database-maintenance.js';
import { dueTables, isCheckpointDue, withoutCheckpoints } from './embedded-database.js';
import { CHECKPOINT_BYTES, CHECK_EVERY_MS } from './limits.js';

const ROWS = 4_000;

embeddedOnly('maintenance of the embedded database', () => {
  let open: TestDatabase;
  let pglite: PGlite;
  const clock = new ManualClock();
  let maintenance: DatabaseMaintenance;

  beforeEach(async () => {
    open = await openTestDatabase([]);
    if (open.native.kind !== 'embedded') throw new Error('not embedded');
    pglite = open.native.pglite;
    await pglite.exec(
      `create table things (id integer primary key, words text[]); create index things_words on things using gin (words)`,
    );
    const pace = new BackgroundPace({ count: 0 } as ConstructorParameters<typeof BackgroundPace>[0]);
    maintenance = new DatabaseMaintenance(open, pace, clock, createLogger({ logLevel: 'silent' }));
    maintenance.onApplicationBootstrap();
  });

  afterEach(async () => {
    await maintenance.beforeApplicationShutdown();
    await open.close();
  });

  const fill = (): Promise<unknown> =>
    pglite.exec(
      `insert into things select n, array['a' || n % 50, 'b' || n % 70, md5(n::text)] from generate_series(1, ${ROWS}) n`,
    );
  /** Otherwise PostgreSQL counts the changes later. */
  const countNow = async (): Promise<void> => {
    await pglite.query('select pg_stat_force_next_flush()');
    await pglite.query('select 1');
  };
  const isDue = async (): Promise<boolean> => (await dueTables(pglite)).some(({ name }) => name === 'things');
  const bytesOf = async (sql: string): Promise<number> =>
    (await pglite.query<{ bytes: number }>(`select (${sql})::integer as bytes`)).rows[0]?.bytes ?? 0;

  async function look(): Promise<void> {
    await countNow();
    expect(await isDue()).toBe(true);
    await clock.advance(CHECK_EVERY_MS);
    await until(async () => !(await isDue()), 'the table is tidy');
  }

  it('keeps a table and its indexes from growing by deleted rows', async () => {
    await fill();
    await look();
    await pglite.exec('delete from things');
    await look();
    await fill();
    const filled = await bytesOf(`pg_total_relation_size('things')`);
    for (let round = 1; round <= 3; round += 1) {
      await pglite.exec('delete from things');
      await look();
      await fill();
    }
    expect(await bytesOf(`pg_total_relation_size('things')`)).toBeLessThan(1.2 * filled);
  });

  it('updates the statistics of the planner', async () => {
    await fill();
    await look();
    expect(await bytesOf(`select reltuples from pg_class where relname = 'things'`)).toBe(ROWS);
  });

  it('vacuums a large table while no request is open, or once it has more dead than live rows', async () => {
    await fill();
    await look();
    const due = async (): Promise<unknown> => (
      await countNow(),
      (await dueTables(pglite, 0)).filter(({ name }) => name === 'things')
    );
    await pglite.exec(`delete from things where id <= ${ROWS / 10}`);
    expect(await due()).toEqual([]);
    await pglite.exec(`delete from things where id <= ${ROWS / 2}`);
    expect(await due()).toEqual([{ name: 'things', vacuum: true, canWait: true }]);
    await pglite.exec(
      'update things set words = words; update things set words = words; update things set words = words',
    );
    expect(await due()).toEqual([{ name: 'things', vacuum: true, canWait: false }]);
  });

  it('continues with other tables if one fails', async () => {
    await pglite.exec(`create function broken(integer) returns integer immutable language sql as 'select $1';
      create table aside (id integer); create index on aside (broken(id)); insert into aside select n from generate_series(1, 100) n;
      create or replace function broken(integer) returns integer immutable language sql as 'select $1 / 0'`);
    await fill();
    const names = async (): Promise<string[]> => (await dueTables(pglite)).map(({ name }) => name);
    await countNow();
    expect(await names()).toEqual(['aside', 'things']);
    await clock.advance(CHECK_EVERY_MS);
    await until(async () => !(await isDue()), 'the other table is tidy');
    expect(await names()).toEqual(['aside']);
  });

  /** Enough for a checkpoint. */
  const writeLog = (): Promise<unknown> =>
    pglite.exec(
      `alter table things alter words set storage external; drop index if exists things_words;
       insert into things select n, array[repeat(md5(n::text), 250)] from generate_series(1, ${CHECKPOINT_BYTES / 8_000}) n; delete from things`,
    );

  it('keeps the write-ahead log short', async () => {
    const written = `pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')`;
    const before = await bytesOf(written);
    for (let round = 1; round <= 4; round += 1) {
      await writeLog();
      expect(await isCheckpointDue(pglite)).toBe(true);
      await clock.advance(CHECK_EVERY_MS);
      await until(async () => !(await isCheckpointDue(pglite)), 'the log was begun anew');
    }
    expect(await bytesOf('select sum(size) from pg_ls_waldir()')).toBeLessThan(
      0.7 * ((await bytesOf(written)) - before),
    );
  });

  it('leaves out a checkpoint that is due while a backup needs the write-ahead log, and makes it afterwards', async () => {
    await withoutCheckpoints(pglite, async () => {
      await writeLog();
      await look();
      await fill();
      // Not in the first check any more, which has begun before: hence the first one has ended.
      await until(async () => (await clock.advance(CHECK_EVERY_MS), !(await isDue())), 'the table is tidy again');
      expect(await isCheckpointDue(pglite)).toBe(true);
    });
    await until(
      async () => (await clock.advance(CHECK_EVERY_MS), !(await isCheckpointDue(pglite))),
      'the log was begun anew',
    );
  });

  it('starts nothing while the service stops', async () => {
    await fill();
    await countNow();
    await maintenance.beforeApplicationShutdown();
    await clock.advance(2 * CHECK_EVERY_MS);
    expect(await isDue()).toBe(true);
  });
});
