import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Client } from 'pg';
import { readSettings } from '../../src/platform/config/index.js';
import {
  type ContextSchema,
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
  return { ...(await openPglite({ loadDataDir: await emptyCluster() }, schemas)), url: undefined };
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

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

let cluster: Promise<Blob> | undefined;

/**
 * The files of an empty PostgreSQL cluster. Making them takes seconds, so they are kept between test
 * runs; the tables are not, or a changed migration would go unnoticed.
 */
function emptyCluster(): Promise<Blob> {
  cluster ??= loadCluster();
  return cluster;
}

/** The same as a tar file, for a service in a process of its own. */
export async function emptyClusterFile(): Promise<string> {
  await emptyCluster();
  return clusterFile();
}

async function clusterFile(): Promise<string> {
  const manifest = createRequire(import.meta.url).resolve('@electric-sql/pglite').replace(/dist.*$/, 'package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  return join(import.meta.dirname, '../../node_modules/.cache/test-database', `pglite-${version}.tar`);
}

async function loadCluster(): Promise<Blob> {
  const file = await clusterFile();
  try {
    return new Blob([await readFile(file)]);
  } catch {
    return makeCluster(file);
  }
}

async function makeCluster(file: string): Promise<Blob> {
  const pglite = await PGlite.create({ extensions: { vector } });
  const dump = await pglite.dumpDataDir('none');
  await pglite.close();
  await mkdir(dirname(file), { recursive: true });
  // Another test process may be at it too; a rename is seen whole or not at all.
  const part = `${file}.${newId()}`;
  await writeFile(part, Buffer.from(await dump.arrayBuffer()));
  await rename(part, file);
  return dump;
}
