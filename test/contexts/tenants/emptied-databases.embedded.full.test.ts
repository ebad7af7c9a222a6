import { afterEach, expect, it } from '@jest/globals';
import { pendingMigrations } from '../../../src/platform/database/index.js';
import { schemas } from '../../../src/schemas.js';
import { embeddedOnly } from '../../support/modes.js';
import { openTestDatabase, type TestDatabase } from '../../support/test-database.js';

embeddedOnly('a test’s database, which may have been another test’s', () => {
  const opened: TestDatabase[] = [];
  const open = async (): Promise<TestDatabase> => {
    const database = await openTestDatabase(schemas);
    opened.push(database);
    return database;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });

  /** Opens a database, does `work` on it, closes it and opens one again. */
  async function openAfter(...work: readonly string[]): Promise<{ before: TestDatabase; after: TestDatabase }> {
    const before = await open();
    for (const statement of work) await before.database.query(statement);
    await opened.pop()?.close();
    return { before, after: await open() };
  }

  const isSame = ({ before, after }: { before: TestDatabase; after: TestDatabase }): boolean =>
    before.native.kind === 'embedded' &&
    after.native.kind === 'embedded' &&
    before.native.pglite === after.native.pglite;

  const count = async ({ database }: TestDatabase, what: string): Promise<number> =>
    Number((await database.query<{ count: number }>(`select count(*)::int as count from ${what}`))[0]?.count);

  it('has no rows, prepared statements or settings of a previous test', async () => {
    const both = await openAfter(
      `insert into run_owners (id) values (gen_random_uuid())`,
      `insert into outbox (id, name, payload, created_at, available_at) values (gen_random_uuid(), 'left', '{}', now(), now())`,
      `prepare left_behind as select 1`,
      `set statement_timeout = 1234`,
      'listen left_behind',
    );
    expect(isSame(both)).toBe(true);
    for (const what of [
      'run_owners',
      'outbox',
      "pg_prepared_statements where name = 'left_behind'",
      'pg_listening_channels()',
    ]) {
      expect({ what, count: await count(both.after, what) }).toEqual({ what, count: 0 });
    }
    expect(await both.after.database.query('show statement_timeout')).toEqual([{ statement_timeout: '0' }]);
  });

  it.each([
    ['no table', 'create table left_behind (id int)'],
    ['no column', 'alter table organizations add column left_behind int'],
    ['every index', 'drop index outbox_due'],
    ['every trigger', 'alter table threads disable trigger all'],
    ['no function', 'create function left_behind() returns int language sql as $$ select 1 $$'],
    ['every migration', 'delete from schema_migrations where id = (select max(id) from schema_migrations)'],
    ['no setting of the database', "alter database postgres set work_mem = '1MB'"],
  ])('has %s that one before it', async (_what, statement) => {
    const both = await openAfter(statement);
    expect(isSame(both)).toBe(false);
    expect(await pendingMigrations(both.after)).toEqual([]);
  });

  it('is a different one while the first is open', async () => {
    expect(isSame({ before: await open(), after: await open() })).toBe(false);
  });

  it('is used by one test at a time, also after it was closed twice', async () => {
    // Takes all idle databases, so that one more is created.
    for (const _idle of [1, 2]) await open();
    const closed = await open();
    await closed.close();
    await closed.close();
    expect(isSame({ before: await open(), after: await open() })).toBe(false);
    const first = await open();
    await closed.close();
    expect(isSame({ before: first, after: await open() })).toBe(false);
  });
});
