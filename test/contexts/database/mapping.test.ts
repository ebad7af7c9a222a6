import type { EntityMetadata } from '@mikro-orm/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contexts, schemasOf } from '../../../src/app.module.js';
import { openTestDatabase, type TestDatabase } from '../../support/test-database.js';

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** Whether the database sets it if an insert omits it. */
  readonly filledIn: boolean;
  readonly primary: boolean;
}

const COLUMNS = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type, not a.attnotnull as nullable,
         a.atthasdef or a.attidentity <> '' as "filledIn", a.attnum = any(coalesce(i.indkey::int2[], '{}')) as primary
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`;

/** PostgreSQL's names of types that the ORM abbreviates. The ORM's precision is that of values, not of columns. */
const TYPES: Readonly<Record<string, string>> = {
  int: 'integer',
  serial: 'integer',
  timestamptz: 'timestamp with time zone',
  varchar: 'character varying',
};

function typeOf(columnType: string): string {
  const base = columnType.replace(/\(.*\)/, '');
  return TYPES[base] ?? base;
}

let open: TestDatabase;
let columns: readonly Column[];
let entities: readonly EntityMetadata[];
beforeAll(async () => {
  open = await openTestDatabase(schemasOf(contexts));
  columns = await open.database.query<Column>(COLUMNS);
  entities = [...open.database.orm.getMetadata().getAll().values()].filter(
    ({ abstract, embeddable }) => !abstract && !embeddable,
  );
});
afterAll(() => open.close());

describe('the mapping of an entity matches its table', () => {
  it('in the type, nullability and key of every column', () => {
    const mapped = entities.flatMap(({ tableName, props }) =>
      props
        .filter(({ persist, fieldNames }) => persist !== false && fieldNames.length > 0)
        .map((property) => ({
          column: `${tableName}.${property.fieldNames[0] ?? ''}`,
          type: typeOf(property.columnTypes[0] ?? ''),
          nullable: property.nullable ?? false,
          primary: property.primary ?? false,
        })),
    );
    expect(mapped.length).toBeGreaterThan(100);
    const made = new Map(columns.map((column) => [`${column.table}.${column.name}`, column]));
    const actual = mapped.map(({ column }) => {
      const { type, nullable, primary } = made.get(column) ?? {};
      return { column, type, nullable, primary };
    });
    expect(mapped).toEqual(actual);
  });

  it('with every column that an insert must set', () => {
    for (const { tableName, props } of entities) {
      const given = props.flatMap(({ fieldNames }) => fieldNames);
      const missing = columns
        .filter(({ table, nullable, filledIn }) => table === tableName && !nullable && !filledIn)
        .filter(({ name }) => !given.includes(name));
      expect({ tableName, missing }).toEqual({ tableName, missing: [] });
    }
  });
});
