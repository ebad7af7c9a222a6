import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineEntity, p } from '@mikro-orm/core';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../ids/index.js';
import { migration } from './schema.js';
import { statement } from './statement.js';
import { fanOutRow, insertRows, rowsByTable, tableRow, type TableRow } from './table-rows.js';

const samples = defineEntity({
  name: 'Sample',
  tableName: 'samples',
  properties: {
    id: p.uuid().primary(),
    takenAt: p.datetime(3),
    digest: p.blob().columnType('bytea'),
    count: p.bigint('number').strictNullable(),
    large: p.bigint(),
    share: p.double().$type<number>(),
    note: p.text(),
    tags: p.array().columnType('text[]'),
    details: p.json<unknown>().strictNullable(),
  },
});
const others = defineEntity({ name: 'Other', tableName: 'others', properties: { id: p.uuid().primary() } });
const letters = defineEntity({
  name: 'Letter',
  tableName: 'letters',
  properties: { readerId: p.uuid().primary(), id: p.uuid().primary(), topic: p.text() },
});
const unregistered = defineEntity({
  name: 'Unregistered',
  tableName: 'nowhere',
  properties: { id: p.uuid().primary() },
});

const schema = {
  entities: [samples, others, letters],
  migrations: [
    migration('2026112199_samples_init', [
      `create table samples (id uuid primary key, taken_at timestamptz(3) not null, digest bytea not null, count bigint,
         large bigint not null, share double precision not null, note text not null, tags text[] not null, details jsonb)`,
      'create table others (id uuid primary key)',
      'create table readers (id uuid primary key, topic text not null)',
      'create table letters (reader_id uuid, id uuid, topic text not null, primary key (reader_id, id))',
    ]),
  ],
};

let open: TestDatabase;
beforeAll(async () => {
  open = await openTestDatabase([schema]);
});
afterAll(() => open.close());

const sample = {
  takenAt: new Date('2026-11-22T10:11:12.345Z'),
  digest: Buffer.from([0, 255, 92]),
  count: 12,
  large: 9_223_372_036_854_775_807n,
  share: 0.1,
  note: 'One.',
  tags: ['a', 'b'],
  details: null,
};

async function keep(rows: readonly TableRow[], condition = '(select 1) as ended'): Promise<void> {
  for (const kept of rowsByTable(open.database.orm, rows)) {
    const insert = statement({ rows: 'jsonb' }, (parameters) => insertRows(kept, parameters.rows, condition));
    await insert.run(open.database, { rows: kept.rows });
  }
}

const found = (id: string) => open.database.read((em) => em.findOne(samples, { id }));

describe('rows of a mapped table', () => {
  it('are stored unchanged', async () => {
    const id = newId();
    await keep([tableRow(samples, { id, ...sample })]);
    expect(await found(id)).toMatchObject({ id, ...sample });
  });

  it('keep every text that PostgreSQL can store, and lose only the characters that it cannot', async () => {
    const id = newId();
    const text = '\uFEFF"quoted" \\x41 {a,b} \u{1F600} line\nbreak ?';
    const details = { text, inner: [{ text: 'a\u0000b\uD800c', [`\u0000n`]: 1 }] };
    await keep([tableRow(samples, { id, ...sample, note: 'a\u0000b\uD800c', tags: [text, ''], details })]);
    const inner = [{ text: 'ab\uFFFDc', n: 1 }];
    expect(await found(id)).toMatchObject({ note: 'ab\uFFFDc', tags: [text, ''], details: { text, inner } });
  });

  it('have null for missing values, also in a column of JSON', async () => {
    const id = newId();
    await keep([tableRow(samples, { id, ...sample, count: null, details: null })]);
    const nothing = 'select id from samples where id = $1 and count is null and details is null';
    expect(await open.database.query(nothing, [id])).toHaveLength(1);
  });

  it('are inserted with one statement for each table', async () => {
    const ids = [newId(), newId(), newId()];
    const rows = ids.map((id) => tableRow(samples, { id, ...sample }));
    const other = tableRow(others, { id: newId() });
    const tables = rowsByTable(open.database.orm, [...rows.slice(0, 1), other, ...rows.slice(1)]);
    expect(tables.map((kept) => [kept.table, kept.rows.length])).toEqual([
      ['samples', 3],
      ['others', 1],
    ]);
    await keep(rows);
    expect(await Promise.all(ids.map(found))).toMatchObject(ids.map((id) => ({ id })));
  });

  it('do not change an existing row with the key', async () => {
    const id = newId();
    await keep([tableRow(samples, { id, ...sample })]);
    await keep([tableRow(samples, { id, ...sample, note: 'Two.' })]);
    expect(await found(id)).toMatchObject({ note: 'One.' });
  });

  it('are not inserted if the condition has no row', async () => {
    const id = newId();
    await keep([tableRow(samples, { id, ...sample })], '(select 1 where false) as ended');
    expect(await found(id)).toBeNull();
  });

  it('have the same text for any number, so that it is prepared once', () => {
    const texts = [1, 2].map((count) => {
      const rows = Array.from({ length: count }, () => tableRow(others, { id: newId() }));
      return rowsByTable(open.database.orm, rows).map((kept) => insertRows(kept, '$1::jsonb', 'ended'));
    });
    expect(texts[0]).toEqual(texts[1]);
  });

  it('are refused if no context has registered their table', () => {
    expect(() => rowsByTable(open.database.orm, [tableRow(unregistered, { id: newId() })])).toThrow('Unregistered');
  });
});

describe('a row that is fanned out', () => {
  const fanOut = {
    from: 'readers',
    where: 'matching.topic = added.topic',
    values: { readerId: 'matching.id' },
  } as const;

  it('is stored once for each matching row of the other table, and not at all without one', async () => {
    const [one, two, other] = [newId(), newId(), newId()];
    await open.database.query(
      `insert into readers (id, topic) values ($1::uuid, 'sea'), ($2::uuid, 'sea'), ($3::uuid, 'hills')`,
      [one, two, other],
    );
    const [sea, sky] = [newId(), newId()];
    const rows = [
      fanOutRow(letters, { id: sea, topic: 'sea' }, fanOut),
      fanOutRow(letters, { id: sky, topic: 'sky' }, fanOut),
    ];
    // Twice: what exists stays as it is.
    for (let attempt = 0; attempt < 2; attempt += 1) await keep(rows);
    const stored = await open.database.query('select reader_id::text as reader, id::text as id from letters');
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(
      expect.arrayContaining([
        { reader: one, id: sea },
        { reader: two, id: sea },
      ]),
    );
  });
});
