import { Client } from 'pg';
import { readSettings } from '../../src/platform/config/index.js';
import {
  type ContextSchema,
  type Database,
  migrate,
  openDatabase,
  type OpenDatabase,
} from '../../src/platform/database/index.js';
import { newId } from '../../src/platform/ids/index.js';
import { openKeptDatabase } from './kept-databases.js';

export interface TestDatabase extends OpenDatabase {
  /** Where other processes reach it; undefined when it is in this process's memory. */
  readonly url: string | undefined;
}

/**
 * A fresh, migrated database of the caller's own: in memory, or with `TEST_MODE=cluster` on the server
 * that `DATABASE_URL` names. Ends with `close()`, and leaves nothing behind.
 */
export async function openTestDatabase(schemas: readonly ContextSchema[]): Promise<TestDatabase> {
  const open = process.env.TEST_MODE === 'cluster' ? await openOnServer(schemas) : await openInMemory(schemas);
  try {
    await migrate(open);
    return open;
  } catch (error) {
    await open.close();
    throw error;
  }
}

async function openInMemory(schemas: readonly ContextSchema[]): Promise<TestDatabase> {
  return { ...(await openKeptDatabase(schemas)), url: undefined };
}

async function openOnServer(schemas: readonly ContextSchema[]): Promise<TestDatabase> {
  const server = process.env.DATABASE_URL;
  if (!server) throw new Error('TEST_MODE=cluster needs DATABASE_URL, of a role that may create databases');
  const name = `test_${newId().replaceAll('-', '')}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const environment = { DATABASE_URL: url.href, SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
  const open = await openDatabase(readSettings(environment, { role: 'all', demo: false }), schemas);
  return {
    ...open,
    url: url.href,
    close: async () => {
      await open.close();
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

/** A connection of a test's own to the service's database, past the service and whatever stands on its way. */
export async function connectToTestDatabase(
  database: Pick<Database, 'query'>,
  server = process.env.DATABASE_URL ?? '',
): Promise<Client> {
  const [row] = await database.query<{ name: string }>('select current_database() as name');
  const url = new URL(server);
  url.pathname = `/${row?.name ?? ''}`;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  return client;
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
