import type { OpenDatabase } from './open-database.js';

/**
 * Brings the tables up to date. Safe to call from every process at once.
 * @param onWait called when another process is at it and this one begins to wait, for however long that takes
 * @returns the names of the migrations that ran, in order
 */
export async function migrate(open: OpenDatabase, onWait: () => void = () => undefined): Promise<string[]> {
  // Most starts find nothing to do. The migrator would search the information schema first, which takes long.
  if ((await pendingMigrations(open)).length === 0) return [];
  return open.migrations.run(onWait);
}

/** Names of migrations that this build knows and the database lacks, in order. */
export async function pendingMigrations({ database, migrations }: OpenDatabase): Promise<string[]> {
  const [table] = await database.query<{ made: boolean }>(
    `select to_regclass('schema_migrations') is not null as made`,
  );
  if (table?.made !== true) return [...migrations.names];
  const ran = await database.query<{ name: string }>('select name from schema_migrations');
  const names = new Set(ran.map(({ name }) => name));
  return migrations.names.filter((name) => !names.has(name));
}
