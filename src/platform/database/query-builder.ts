import type { EntitySchemaWithMeta } from '@mikro-orm/core';
import type { InferKyselyTable } from '@mikro-orm/sql';
import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import type { SqlExecutor } from './database.js';
import { storableJson } from './storable.js';

/** The columns of a mapped table, as statements return and compare them: timestamps are text, and JSON is unknown until `JsonDocument` reads it. */
export type ColumnsOf<Entity extends EntitySchemaWithMeta> = {
  [Column in keyof InferKyselyTable<Entity>]: Answered<InferKyselyTable<Entity>[Column]>;
};
type Answered<Value> = Value extends Date
  ? string
  : Value extends string | number | boolean | bigint | null | Uint8Array
    ? Value
    : unknown;

/**
 * Builds typed statements and runs none: `rowsOf` does, in a transaction or outside of one, with what `Database` adds to
 * every statement.
 */
export function queryBuilder<Tables>(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: () => {
        throw new Error('Nothing here is connected to a database');
      },
    },
  });
}

/** A value of a `jsonb` column: the drivers would make an array of PostgreSQL of a list. */
export function jsonb<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`${storableJson(value)}::jsonb`;
}

/** Runs a statement; timestamps come back as PostgreSQL text (`toDate`), and so do the largest integers. */
export function rowsOf<Row extends object>(executor: SqlExecutor, query: Compilable<Row>): Promise<Row[]> {
  const { sql, parameters } = query.compile();
  return executor.query<Row>(sql, parameters);
}
