import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { codePoints, LONG_TEXT, ODD_TEXTS } from '../../../test/support/odd-texts.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { storableJson } from './storable.js';
import { embeddedOnly } from '../../../test/support/modes.js';

let open: TestDatabase;
beforeAll(async () => {
  open = await openTestDatabase([]);
  await open.database.query('create table texts (id int primary key, body text, facts jsonb, parts text[])');
});
afterAll(() => open.close());

interface Row {
  body: string;
  facts: Record<string, unknown>;
  parts: string[];
}

describe('text in the database', () => {
  it.each([...ODD_TEXTS, ['no character', ''] as const])('is read as it was stored: %s', async (_name, text) => {
    const facts = { [text]: text, list: [text, `${text}x`], inner: { text } };
    await open.database.query(
      `insert into texts (id, body, facts, parts) values (1, $1, $2::jsonb, $3::text[])
       on conflict (id) do update set body = excluded.body, facts = excluded.facts, parts = excluded.parts`,
      [text, storableJson(facts), [text, '', text]],
    );
    const [row] = await open.database.query<Row>('select body, facts, parts from texts where id = 1');
    expect(codePoints(row?.body)).toBe(codePoints(text));
    expect(codePoints(Object.keys(row?.facts ?? {}).find((name) => name !== 'list' && name !== 'inner'))).toBe(
      codePoints(text),
    );
    expect(row?.facts).toEqual(facts);
    expect(row?.parts.map(codePoints)).toEqual([text, '', text].map(codePoints));

    const found = await open.database.query<{ same: string }>(
      `select body as same from texts where body = any($1::text[]) and facts ->> $2 = $3 and octet_length(body) = $4`,
      [[text], text, text, Buffer.byteLength(text)],
    );
    expect(found.map(({ same }) => codePoints(same))).toEqual([codePoints(text)]);
  });

  it('is read completely if it is long, in a transaction, and next to nulls and numbers', async () => {
    const rows = await open.database.transaction(async (transaction) => {
      await transaction.query('insert into texts (id, body) values (2, $1), (3, null), (4, $2)', [
        LONG_TEXT,
        '\uFEFF4',
      ]);
      return transaction.query<{ id: number; body: string | null }>(
        'select id, body from texts where id > 1 order by id',
      );
    });
    expect(rows.map(({ id }) => id)).toEqual([2, 3, 4]);
    expect(rows[0]?.body === LONG_TEXT).toBe(true);
    expect(rows.slice(1).map(({ body }) => codePoints(body))).toEqual([null, 'feff 34']);
  });

  it('is read by a statement without parameters', async () => {
    const [row] = await open.database.query<{ body: string }>(`select U&'\\FEFFtext' as body`);
    expect(codePoints(row?.body)).toBe(codePoints('\uFEFFtext'));
  });
});

embeddedOnly('PGlite without the fix', () => {
  it('still drops a leading U+FEFF; otherwise remove ExactTextPglite', async () => {
    if (open.native.kind !== 'embedded') throw new Error('not embedded');
    const plain = await PGlite.create({ loadDataDir: await open.native.pglite.dumpDataDir('none') });
    try {
      const { rows } = await plain.query<{ body: string }>('select $1::text as body', ['\uFEFFtext']);
      expect(rows).toEqual([{ body: 'text' }]);
    } finally {
      await plain.close();
    }
  });
});
