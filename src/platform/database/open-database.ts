import type { Settings } from '../config/index.js';
import type { OpenDatabase } from './database-handle.js';
import type { ContextSchema } from './schema.js';
import type { ServerLimits } from './server-database.js';

/**
 * Opens the server that `DATABASE_URL` names, or without it PostgreSQL inside this process, in `DATA_DIR`, which it locks.
 * @throws DataFolderInUse; InvalidSetting if the server cannot be used
 */
export async function openDatabase(
  settings: Settings,
  schemas: readonly ContextSchema[],
  limits: ServerLimits = {},
): Promise<OpenDatabase> {
  // A process loads only the database that it uses.
  if (settings.databaseUrl === undefined) {
    const { openEmbedded } = await import('./embedded-database.js');
    return openEmbedded(settings.dataDir, schemas);
  }
  const { openServer } = await import('./server-database.js');
  const { databaseUrl: url, databaseDirectUrl: directUrl, databasePool: poolSize, processName: name } = settings;
  return openServer({ url, directUrl, poolSize, name }, schemas, limits);
}
