import type { OpenDatabase } from './database-handle.js';

/**
 * Migrates the tables. All processes may call it at the same time.
 * @param onWait called when this process begins to wait for another one that migrates
 * @returns the names of the migrations that ran, in order
 */
export async function migrate(open: OpenDatabase, onWait: () => void = () => undefined): Promise<string[]> {
  // Most starts have nothing to migrate, and the migrator would first query the information schema, which is slow.
  if ((await pendingMigrations(open)).length === 0) return [];
  return open.migrations.run(onWait);
}

/** Names of the migrations of this build that the database lacks, in order. */
export async function pendingMigrations({ database, migrations }: OpenDatabase): Promise<string[]> {
  const [table] = await database.query<{ made: boolean }>(
    `select to_regclass('schema_migrations') is not null as made`,
  );
  if (table?.made !== true) return [...migrations.names];
  const ran = await database.query<{ name: string }>('select name from schema_migrations');
  const names = new Set(ran.map(({ name }) => name));
  return migrations.names.filter((name) => !names.has(name));
}
