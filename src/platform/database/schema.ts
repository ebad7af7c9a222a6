import type { EntitySchema } from '@mikro-orm/core';
import type { CustomerJson, JsonDocument } from './json-document.js';

/** What a context stores in the database: its entities and the statements that create its tables. */
export interface ContextSchema {
  readonly entities: readonly EntitySchema[];
  /** The JSON columns that no entity maps. */
  readonly documents?: readonly (JsonDocument | CustomerJson<unknown>)[];
  /** The context's part of the migration `BASE`, which released databases have run: only migrations change its tables and add others. */
  readonly base?: readonly string[];
  readonly migrations?: readonly NamedMigration[];
}

/** The migration that creates the tables of a new database: the `base` of all contexts. */
export const BASE = '2026112900_base';

export interface NamedMigration {
  /** `YYYYMMDDNN_<context>_<what>`: migrations of all contexts run in the order of their names. */
  readonly name: string;
  readonly statements: readonly string[];
  /** Set for the only statement of `indexMigration`, which PostgreSQL does not execute in a transaction. */
  readonly index?: string;
  /** A build may use the database if it has this migration. Builds of the release before the one that adds the migration have it. */
  readonly oldestBuild: string;
}

/**
 * A migration that only adds: builds without it go on using the database. Columns that it adds to existing tables may be null
 * or have a constant default; it neither renames nor drops. There are no migrations down.
 */
export function migration(name: string, statements: readonly string[]): NamedMigration {
  return { name, statements, oldestBuild: BASE };
}

/**
 * A migration that adds an index to an existing table without blocking writes.
 * @param on what follows the name in `create index`, such as `on runs (thread_id) where ...`
 */
export function indexMigration(name: string, index: string, on: string, unique: 'unique' | '' = ''): NamedMigration {
  const statement = `create ${unique === '' ? '' : 'unique '}index concurrently if not exists ${index} ${on}`;
  return { name, statements: [statement], index, oldestBuild: BASE };
}

/**
 * A migration that removes or renames what earlier builds use, in a release after the one that has stopped using it.
 * @param oldestBuild the migration that a build must have to go on using the database; builds without it do not start
 */
export function contraction(name: string, oldestBuild: string, statements: readonly string[]): NamedMigration {
  return { name, statements, oldestBuild };
}

/** Of all contexts, in the order in which they run. */
export function migrationsOf(schemas: readonly ContextSchema[]): NamedMigration[] {
  const base = schemas.flatMap((schema) => schema.base ?? []);
  return [
    ...(base.length === 0 ? [] : [migration(BASE, base)]),
    ...schemas
      .flatMap((schema) => schema.migrations ?? [])
      .sort((left, right) => left.name.localeCompare(right.name, 'en')),
  ];
}
