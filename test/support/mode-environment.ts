import { newId } from '../../src/platform/ids/index.js';
import { openTestDatabase } from './test-database.js';

export interface ModeEnvironment {
  /** What a process needs to run in this mode; nothing when embedded. */
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The settings of the mode that `TEST_MODE` names, for processes of their own: cluster gets a fresh database. */
export async function modeEnvironment(): Promise<ModeEnvironment> {
  if (process.env['TEST_MODE'] !== 'cluster') return { variables: {}, close: () => Promise.resolve() };
  const database = await openTestDatabase([]);
  return { variables: clusterVariables(database.url ?? ''), close: () => database.close() };
}

/** Settings that join a database with the test run's Redis; the prefix keeps runs apart. */
export function clusterVariables(databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: process.env['REDIS_URL'] ?? '',
    REDIS_PREFIX: `test-${newId()}`,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    // No balancer sends requests to processes that stop.
    SHUTDOWN_DELAY_SECONDS: '0',
  };
}
