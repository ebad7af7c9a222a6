import type { PGlite } from '@electric-sql/pglite';
import type { Database } from '../database/index.js';

/** Where a backup ends, and what a start needs to know of it. */
export interface EndOfBackup {
  readonly segment: string;
  readonly label: string;
}

/*
 * Not through `Database`: the two calls are functions of one session, which the embedded database has.
 */

/** @returns the first segment of the log that the copy needs */
export async function startBackup(pglite: PGlite): Promise<string> {
  const sql = `select pg_walfile_name(pg_backup_start('backup', true)) as segment`;
  return (await pglite.query<{ segment: string }>(sql)).rows[0]?.segment ?? '';
}

export async function stopBackup(pglite: PGlite): Promise<EndOfBackup> {
  const sql = 'select pg_walfile_name(lsn) as segment, labelfile as label from pg_backup_stop(false)';
  const [end] = (await pglite.query<EndOfBackup>(sql)).rows;
  if (!end) throw new Error('The database did not end the backup');
  return end;
}

/** @returns null for a database without tables */
export async function newestMigration(database: Database): Promise<string | null> {
  const [row] = await database.query<{ name: string | null }>('select max(name) as name from schema_migrations');
  return row?.name ?? null;
}
