import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { Client } from 'pg';
import { readSettings } from '../../src/platform/config/index.js';
import {
  type ContextSchema,
  type Database,
  migrate,
  openDatabase,
  openPglite,
  type OpenDatabase,
} from '../../src/platform/database/index.js';
import { newId } from '../../src/platform/ids/index.js';

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
  const options = { loadDataDir: await migratedCluster(schemas), startParams: SMALL };
  return { ...(await openPglite(options, schemas)), url: undefined };
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

/** Clearing the usual 128 MB of buffers is half of what opening a database takes, and a test's rows need few of them. */
const SMALL = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];

/** By what was done to them, in the memory of this process. */
const clusters = new Map<string, Promise<Blob>>();

/**
 * The files of a PostgreSQL cluster with the tables of `schemas`. Making them takes seconds, so they are kept between
 * test runs, under a name that any change to a migration changes.
 */
async function migratedCluster(schemas: readonly ContextSchema[]): Promise<Blob> {
  const file = await clusterFile(schemas);
  const cluster = clusters.get(file) ?? loadCluster(file, schemas);
  clusters.set(file, cluster);
  return cluster;
}

/** The same as a tar file, for a service in a process of its own. */
export async function migratedClusterFile(schemas: readonly ContextSchema[]): Promise<string> {
  await migratedCluster(schemas);
  return clusterFile(schemas);
}

async function clusterFile(schemas: readonly ContextSchema[]): Promise<string> {
  const manifest = createRequire(import.meta.url).resolve('@electric-sql/pglite').replace(/dist.*$/, 'package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const steps = schemas.flatMap(({ migrations }) => migrations.map(({ name, statements }) => [name, statements]));
  const hash = createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 16);
  return join(import.meta.dirname, '../../node_modules/.cache/test-database', `pglite-${version}-${hash}-small.tar`);
}

async function loadCluster(file: string, schemas: readonly ContextSchema[]): Promise<Blob> {
  try {
    return new Blob([await readFile(file)]);
  } catch {
    return makeCluster(file, schemas);
  }
}

/** Two databases that nothing connects to: two thirds of the files that every opening would copy. */
async function dropTemplates(pglite: PGlite): Promise<void> {
  await pglite.exec('update pg_database set datistemplate = false');
  for (const template of ['template0', 'template1']) await pglite.exec(`drop database ${template}`);
  await pglite.exec('checkpoint');
}

async function makeCluster(file: string, schemas: readonly ContextSchema[]): Promise<Blob> {
  const open = await openPglite({}, schemas);
  await migrate(open);
  if (open.native.kind !== 'embedded') throw new Error('The database is not in this process');
  await dropTemplates(open.native.pglite);
  const dump = await open.native.pglite.dumpDataDir('none');
  await open.close();
  await mkdir(dirname(file), { recursive: true });
  // Another test process may be at it too; a rename is seen whole or not at all.
  const part = `${file}.${newId()}`;
  await writeFile(part, Buffer.from(await dump.arrayBuffer()));
  await rename(part, file);
  return dump;
}
