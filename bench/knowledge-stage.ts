import type * as Schemas from '../src/schemas.ts';
import type * as ConfigModule from '../src/platform/config/index.ts';
import type * as DatabaseModule from '../src/platform/database/index.ts';
import type { OpenDatabase } from '../src/platform/database/index.ts';
import type { Environment } from './processes.ts';

/** Classes of the built service, because `src` cannot run without a build. */
export async function built<Exports>(path: string): Promise<Exports> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as Exports;
}

/** The database of a service with these settings. An embedded one can only be opened while the service does not run. */
export async function openDatabaseOf(env: Environment): Promise<OpenDatabase> {
  const { schemas } = await built<typeof Schemas>('schemas.js');
  const { openDatabase } = await built<typeof DatabaseModule>('platform/database/index.js');
  const { readSettings } = await built<typeof ConfigModule>('platform/config/index.js');
  return openDatabase(readSettings(env, { role: 'all', demo: false }), schemas);
}
