import type { OpenDatabase } from './open-database.js';

/**
 * Brings the tables up to date. Safe to call from every process at once.
 * @param onWait called when another process is at it and this one begins to wait, for however long that takes
 * @returns the names of the migrations that ran, in order
 */
export function migrate({ migrations }: OpenDatabase, onWait: () => void = () => undefined): Promise<string[]> {
  return migrations.run(onWait);
}

/** Names of migrations that this build knows and the database lacks. */
export async function pendingMigrations({ database }: OpenDatabase): Promise<string[]> {
  return (await database.orm.migrator.getPending()).map(({ name }) => name);
}
