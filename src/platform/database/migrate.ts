import type { OpenDatabase } from './open-database.js';

/** Any constant: processes that start at once agree on it to migrate one after the other. */
const MIGRATION_LOCK = 7_216_943_001;

/**
 * Brings the tables up to date. Safe to call from every process at once.
 * @returns the names of the migrations that ran, in order
 */
export async function migrate({ database, native }: OpenDatabase): Promise<string[]> {
  const up = async (): Promise<string[]> => (await database.orm.migrator.up()).map(({ name }) => name);
  if (native.kind === 'embedded') return up();
  const holder = await native.pool.connect();
  try {
    await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await up();
  } finally {
    await holder.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    holder.release();
  }
}

/** Names of migrations that this build knows and the database lacks. */
export async function pendingMigrations({ database }: OpenDatabase): Promise<string[]> {
  return (await database.orm.migrator.getPending()).map(({ name }) => name);
}
