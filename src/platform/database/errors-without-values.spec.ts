import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineEntity, p } from '@mikro-orm/core';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { messageOf, StatementFailed } from '../errors/index.js';
import { newId } from '../ids/index.js';
import { createLogger } from '../telemetry/index.js';
import { DatabaseUnavailable } from './database-failure.js';
import { migration } from './schema.js';

const CANARY = 'canary-4711';
/** A canary where only a number can be. */
const NUMBER = 471_147_114_711;
const TRACE = /canary|47114711/;

const notes = defineEntity({
  name: 'Note',
  tableName: 'notes',
  properties: { id: p.uuid().primary(), text: p.text(), size: p.integer(), parent: p.uuid().nullable() },
});
const schema = {
  entities: [notes],
  migrations: [
    migration('2026112199_notes', [
      `create table notes (id uuid primary key, text text not null, size integer not null default 1, parent uuid,
         constraint notes_parent_fk foreign key (parent) references notes,
         constraint notes_size_check check (size < 100), constraint notes_one exclude (text with =) where (size = 77))`,
      'create unique index notes_text_unique on notes (text) where size <> 77',
      'create table narrow (text varchar(3), owner text not null)',
      `create function complain(what text) returns void language plpgsql as $$ begin
         raise exception 'no %', what using detail = what, hint = what, errcode = '23505', constraint = what; end $$`,
    ]),
  ],
};

/** A statement with its parameters, and the state that PostgreSQL gives. */
const REFUSED: readonly (readonly [state: string, sql: string, parameters: readonly unknown[]])[] = [
  ['23505', 'insert into notes (id, text) select gen_random_uuid(), $1::text from generate_series(1, 2)', [CANARY]],
  ['23503', `insert into notes (id, text, parent) values (gen_random_uuid(), $1, gen_random_uuid())`, [CANARY]],
  ['23514', `insert into notes (id, text, size) values (gen_random_uuid(), $1, 100)`, [CANARY]],
  ['23502', 'insert into narrow (text, owner) values ($1, null)', ['47']],
  ['23502', 'insert into notes (id, text) values (null, $1)', [CANARY]],
  [
    '23P01',
    `insert into notes (id, text, size) select gen_random_uuid(), $1::text, 77 from generate_series(1, 2)`,
    [CANARY],
  ],
  ['22001', 'insert into narrow (text, owner) values ($1::text, $1::text)', [CANARY]],
  ['22P02', 'select $1::text::uuid', [CANARY]],
  ['22P02', 'select $1::text::integer', [CANARY]],
  ['22P02', 'select $1::text::boolean', [CANARY]],
  ['22P02', 'select $1::text::double precision', [CANARY]],
  ['22P02', 'select $1::text::numeric', [CANARY]],
  ['22P02', 'select $1::text::inet', [CANARY]],
  ['22023', 'select $1::text::bytea', [`\\x${CANARY}`]],
  ['22P02', 'select $1::text::jsonb', [`{"${CANARY}`]],
  ['22P02', 'select $1::text::text[]', [`{${CANARY}`]],
  ['22007', 'select $1::text::timestamptz', [CANARY]],
  ['22008', 'select $1::text::date', ['4711-47-11']],
  ['22007', 'select $1::text::interval', [CANARY]],
  ['22003', 'select $1::text::integer', [String(NUMBER)]],
  ['22003', 'select $1::bigint::integer', [NUMBER]],
  ['22012', 'select $1::integer / 0', [47]],
  ['22P02', 'select cast($1::text as integer)', [CANARY]],
  ['2201B', 'select $1::text ~ $1::text', [`${CANARY}(`]],
  ['42601', 'select to_tsquery($1::text)', [`${CANARY} & & (`]],
  ['22P02', 'select row from json_populate_record(null::notes, $1::json) as row', [`{"id":"${CANARY}"}`]],
  ['23505', 'select complain($1::text)', [CANARY]],
  ['P0001', `do $$ begin raise exception '${CANARY}' using detail = '${CANARY}'; end $$`, []],
];

let open: TestDatabase;
let lines: string[];

beforeAll(async () => {
  open = await openTestDatabase([schema]);
});
afterAll(() => open.close());

async function failureOf(work: () => Promise<unknown>): Promise<Error> {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('The database refused nothing');
}

/** What the log has of an error, on its own and as the cause of another. */
function logged(error: unknown): string {
  lines = [];
  const logger = createLogger({ logLevel: 'debug' }, { write: (line: string) => void lines.push(line) });
  logger.error({ err: error }, 'It failed');
  logger.error({ err: new DatabaseUnavailable(error), details: { deep: [error] } }, 'It failed');
  return lines.join('');
}

/** Past the service's own layer, as the queue does. */
function onDriver(sql: string, parameters: readonly unknown[] = []): Promise<unknown> {
  const { native } = open;
  return native.kind === 'server' ? native.pool.query(sql, [...parameters]) : native.pglite.query(sql, [...parameters]);
}

describe('an error of the database', () => {
  it.each(REFUSED)('(%s: %s) has no value of a row or a parameter', async (state, sql, parameters) => {
    const ways = {
      alone: () => open.database.query(sql, parameters),
      transaction: () => open.database.transaction((transaction) => transaction.query(sql, parameters)),
      orm: () => open.database.read((em) => em.execute(sql.replaceAll(/\$1/g, '?'), inlined(sql, parameters))),
    };
    for (const work of Object.values(ways)) {
      const error = await failureOf(work);
      expect(error).toBeInstanceOf(StatementFailed);
      expect(error).toMatchObject({ code: state });
      expect(`${error.message}${error.stack ?? ''}${messageOf(error)}${JSON.stringify(error)}`).not.toMatch(TRACE);
      expect(logged(error)).not.toMatch(TRACE);
      expect(logged(error)).toContain(`"code":"${state}"`);
    }
    const raw = await failureOf(() => onDriver(sql, parameters));
    expect(`${logged(raw)}${messageOf(raw)}`).not.toMatch(TRACE);
    expect(logged(raw)).toContain(`"code":"${state}"`);
  });

  it('keeps what an operator needs', async () => {
    await open.database.query('insert into notes (id, text) values (gen_random_uuid(), $1)', [CANARY]);
    const insert = "insert into notes (id, text, size) values (gen_random_uuid(), $1, 5) /* isn't it */";
    const error = await failureOf(() => open.database.query(insert, [CANARY]));
    expect(JSON.parse(logged(error).split('\n')[0] ?? '')).toMatchObject({
      err: {
        type: 'StatementFailed',
        message: 'duplicate key value violates unique constraint "notes_text_unique"',
        ...{ code: '23505', schema: 'public', table: 'notes', constraint: 'notes_text_unique' },
        statement: expect.stringContaining('insert into notes (id, text, size) values (gen_random_uuid(), $1, ?)'),
        stack: expect.stringContaining('errors-without-values.spec'),
      },
    });
  });

  it('at the flush of entities, one or many, has none', async () => {
    const rows = (count: number) =>
      Array.from({ length: count }, () => ({ id: newId(), text: `${CANARY} 'of' \\ a row`, size: 5, parent: null }));
    const writes = {
      one: () => flush(rows(1)[0] ?? {}, { ...rows(1)[0], size: 500 }),
      many: () => flush(...rows(3)),
      batch: () => open.database.write((em) => em.insertMany(notes, rows(3))),
      update: () => open.database.write((em) => em.nativeUpdate(notes, { text: CANARY }, { size: 500 })),
      wrongType: () => flush({ ...rows(1)[0], size: CANARY }),
      raw: () => open.database.read((em) => em.execute(`select '${CANARY}'::uuid`)),
    };
    for (const [name, write] of Object.entries(writes)) {
      const error = await failureOf(write);
      expect({ name, text: `${logged(error)}${error.message}${error.stack ?? ''}` }).toEqual({
        name,
        text: expect.not.stringMatching(TRACE),
      });
    }
  });

  it('of a statement that takes too long, or that breaks the connection off, has none', async () => {
    if (open.native.kind === 'embedded') return;
    const late = await failureOf(() =>
      open.database.transaction(async (transaction) => {
        await transaction.query(`set local statement_timeout = 20`);
        await transaction.query('select pg_sleep(5), $1::text', [CANARY]);
      }),
    );
    expect(late).toBeInstanceOf(DatabaseUnavailable);
    expect(logged(late)).not.toMatch(TRACE);
    expect(logged(late)).toContain('57014');
    const sql = 'select pg_terminate_backend(pg_backend_pid()), $1::text';
    const error = await failureOf(() => open.database.query(sql, [CANARY]));
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(logged(error)).not.toMatch(TRACE);
  });
});

function flush(...rows: readonly object[]): Promise<void> {
  return open.database.transaction(async ({ em }) => {
    for (const row of rows) em.persist(em.create(notes, row as never));
    await Promise.resolve();
  });
}

/** One for each place, as the ORM writes them into the statement. */
function inlined(sql: string, parameters: readonly unknown[]): unknown[] {
  return Array.from(sql.matchAll(/\$1/g), () => parameters[0]);
}
