import type { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';
import type { Database } from './database.js';
import type { NamedMigration } from './schema.js';

/** The handle below the ORM, for libraries with their own SQL (the job queue). */
export type NativeDatabase =
  { readonly kind: 'embedded'; readonly pglite: PGlite } | { readonly kind: 'server'; readonly pool: Pool };

export interface OpenDatabase {
  readonly database: Database;
  readonly native: NativeDatabase;
  readonly migrations: Migrations;
  /** Only of the embedded database, which answers nothing more in this process once `listener` is called. */
  onCrash?(listener: (error: Error) => void): void;
  close(): Promise<void>;
}

export interface Migrations {
  readonly all: readonly NamedMigration[];
  /**
   * @param onWait called when this process begins to wait for another one that migrates
   * @returns the names of those that ran, in order
   */
  run(onWait: () => void): Promise<string[]>;
}
