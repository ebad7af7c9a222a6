import type { EntitySchema } from '@mikro-orm/core';
import { Migration } from '@mikro-orm/migrations';
import type { CustomerJson, JsonDocument } from './json-document.js';

/** What a context stores in the database: its entities and the migrations that create its tables. */
export interface ContextSchema {
  readonly entities: readonly EntitySchema[];
  /** The JSON columns that no entity maps. */
  readonly documents?: readonly (JsonDocument | CustomerJson<unknown>)[];
  readonly migrations: readonly NamedMigration[];
}

export interface NamedMigration {
  /** `YYYYMMDDNN_<context>_<what>`: migrations of all contexts run in the order of their names. */
  readonly name: string;
  readonly statements: readonly string[];
  readonly class: new (...parameters: ConstructorParameters<typeof Migration>) => Migration;
}

/** A migration of SQL statements. There are no migrations down. */
export function migration(name: string, statements: readonly string[]): NamedMigration {
  return {
    name,
    statements,
    class: class extends Migration {
      override up(): void {
        for (const statement of statements) this.addSql(statement);
      }
    },
  };
}
