import type { OpenDatabase } from './database-handle.js';
import { SchemaRefusal, schemaState, type SchemaState } from './schema-state.js';

/**
 * Migrates the tables. All processes may call it at the same time.
 * @param onWait called when this process begins to wait for another one that migrates
 * @returns the names of the migrations that ran, in order
 * @throws SchemaRefusal when this build may not use the database, which it has not changed then
 */
export async function migrate(open: OpenDatabase, onWait: () => void = () => undefined): Promise<string[]> {
  if ((await acceptedState(open)).pending.length === 0) return [];
  const names = await open.migrations.run(onWait);
  // A newer build may have migrated while this one waited for it, and may no longer allow this one.
  await acceptedState(open);
  return names;
}

/** Names of the migrations of this build that the database lacks, in order. @throws SchemaRefusal */
export async function pendingMigrations(open: OpenDatabase): Promise<readonly string[]> {
  return (await acceptedState(open)).pending;
}

async function acceptedState({ database, migrations }: OpenDatabase): Promise<SchemaState> {
  const state = await schemaState(database, migrations.all);
  if (state.refusal !== undefined) throw new SchemaRefusal(state.refusal);
  return state;
}
