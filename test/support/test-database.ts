import { Client } from 'pg';
import { readSettings } from '../../src/platform/config/index.js';
import {
  type ContextSchema,
  type Database,
  migrate,
  openDatabase,
  type OpenDatabase,
  preparedVersion,
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
  const template = await templateOf(server, schemas);
  const name = `test_${newId().replaceAll('-', '')}`;
  await onServer(server, (client) => client.query(`create database ${name} template ${template}`));
  const { url, open } = await openByName(server, name, schemas);
  return {
    ...open,
    url,
    close: async () => {
      await open.close();
      await onServer(server, (client) => client.query(`drop database ${name} with (force)`));
    },
  };
}

const templates = new Map<string, Promise<string>>();

/** A migrated database to copy. `tools/run-tests.mjs` drops it. */
function templateOf(server: string, schemas: readonly ContextSchema[]): Promise<string> {
  const name = `test_template_${process.env.TEST_RUN ?? 'alone'}_${preparedVersion(schemas).slice(0, 16)}`;
  const made = templates.get(name) ?? makeTemplate(server, name, schemas);
  templates.set(name, made);
  return made;
}

async function makeTemplate(server: string, name: string, schemas: readonly ContextSchema[]): Promise<string> {
  await onServer(server, async (client) => {
    // Test processes that start at once make one template.
    await client.query(`select pg_advisory_lock(hashtext('test template'))`);
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rows.length > 0) return;
    // Under its name no process finds it before it is complete.
    const unfinished = `${name}_unfinished`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    const { open } = await openByName(server, unfinished, schemas);
    await migrate(open).finally(() => open.close());
    await client.query(`alter database ${unfinished} rename to ${name}`);
  });
  return name;
}

async function openByName(server: string, name: string, schemas: readonly ContextSchema[]) {
  const url = new URL(server);
  url.pathname = `/${name}`;
  const environment = { DATABASE_URL: url.href, SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') };
  return { url: url.href, open: await openDatabase(readSettings(environment, { role: 'all', demo: false }), schemas) };
}

/** A direct connection of a test to the service's database. */
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

async function onServer(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
