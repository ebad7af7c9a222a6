import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { MemoryFS, PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { type ContextSchema, migrate, type OpenDatabase, preparedVersion } from '../../src/platform/database/index.js';
import { openPglite } from '../../src/platform/database/embedded-database.js';
import { newId } from '../../src/platform/ids/index.js';
import { jobsSchema } from '../../src/platform/jobs/index.js';
import { migratePglite } from '../../src/platform/jobs/pglite-pool.js';
import { unrefTimers } from './pglite-timers.js';

/** The files of a PostgreSQL cluster, by their paths; null for a folder, which comes before what is in it. */
export type Cluster = ReadonlyMap<string, Uint8Array | null>;

/** By the files that keep them, in the memory of this process. */
const clusters = new Map<string, Promise<Cluster>>();

/**
 * A cluster with the tables of `schemas`, and with the job queue's if the service's jobs are among them. Making one
 * takes seconds, so they are kept between test runs, under a name that any change to a migration changes.
 */
export function preparedCluster(schemas: readonly ContextSchema[]): Promise<Cluster> {
  const queue = schemas.includes(jobsSchema);
  return kept(`${preparedVersion(schemas)} ${queue}`, () => makeCluster(schemas, queue));
}

/** Options of a database in memory that is this cluster, or a new one. */
export function inMemory(cluster?: Cluster): PGliteOptions {
  return { startParams: SMALL, ...(cluster && { fs: new LoadedMemory(cluster) }) };
}

/** The same in a `DATA_DIR` that holds no database yet. */
export async function prepareDatabase(dataDir: string, schemas: readonly ContextSchema[]): Promise<void> {
  const folder = join(dataDir, 'database');
  mkdirSync(folder);
  for (const [path, data] of await preparedCluster(schemas)) {
    if (data) writeFileSync(join(folder, path), data);
    else mkdirSync(join(folder, path));
  }
  appendFileSync(join(folder, 'postgresql.auto.conf'), `shared_buffers = ${BUFFERS}\n`);
}

/** Clearing the usual 128 MB of buffers is half of what opening a database takes, and a test's rows need few of them. */
const BUFFERS = '16MB';
const SMALL = [...PGlite.defaultStartParams, '-c', `shared_buffers=${BUFFERS}`];

/** Where PGlite has its cluster, in a file system of its own. */
const { PGDATA } = PGlite.paths;

/** As far as it is used here; its own types are not installed. */
interface MemoryFiles {
  analyzePath(path: string): { readonly exists: boolean };
  mkdir(path: string): void;
  readdir(path: string): string[];
  stat(path: string): { readonly mode: number };
  isDir(mode: number): boolean;
  readFile(path: string): Uint8Array;
  writeFile(path: string, data: Uint8Array, options: { readonly canOwn: boolean }): void;
}

/** Begins with the files of a cluster. PGlite itself can load a tar file, which takes twice as long. */
class LoadedMemory extends MemoryFS {
  constructor(private readonly cluster: Cluster) {
    super();
  }

  override initialSyncFs(): Promise<void> {
    if (!this.pg) throw new Error('PGlite has not been started');
    unrefTimers(this.pg);
    const files = filesOf(this.pg);
    if (!files.analyzePath(PGDATA).exists) files.mkdir(PGDATA);
    for (const [path, data] of this.cluster) {
      if (data) files.writeFile(PGDATA + path, new Uint8Array(data), { canOwn: true });
      else files.mkdir(PGDATA + path);
    }
    return Promise.resolve();
  }
}

function filesOf({ Module }: PGlite): MemoryFiles {
  return Module.FS as MemoryFiles;
}

function* filesBelow(files: MemoryFiles, folder = ''): Generator<[string, Uint8Array | null]> {
  for (const name of files.readdir(PGDATA + folder)) {
    if (name === '.' || name === '..') continue;
    const path = `${folder}/${name}`;
    const isFolder = files.isDir(files.stat(PGDATA + path).mode);
    yield [path, isFolder ? null : files.readFile(PGDATA + path)];
    if (isFolder) yield* filesBelow(files, path);
  }
}

/** What is kept of `made` under the name of `contents`; made and kept if there is nothing yet. */
async function kept(contents: string, make: () => Promise<Cluster>): Promise<Cluster> {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  const versions = ['@electric-sql/pglite', 'bullmq'].map((name) => `${basename(name)}-${versionOf(name)}`);
  const file = join(CACHE, `${[...versions, hash].join('-')}.cluster`);
  const cluster = clusters.get(file) ?? load(file).catch(() => makeFile(file, make));
  clusters.set(file, cluster);
  return cluster;
}

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/test-database');

function versionOf(name: string): string {
  const manifest = join(import.meta.dirname, '../../node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

async function load(file: string): Promise<Cluster> {
  return deserialize(await readFile(file)) as Cluster;
}

async function makeFile(file: string, make: () => Promise<Cluster>): Promise<Cluster> {
  const cluster = await make();
  await mkdir(CACHE, { recursive: true });
  // Another test process may be at it too; a rename is seen whole or not at all.
  const part = `${file}.${newId()}`;
  await writeFile(part, serialize(cluster));
  await rename(part, file);
  return cluster;
}

/** With no tables: PostgreSQL's own beginning takes far longer than all migrations. */
function emptyCluster(): Promise<Cluster> {
  return kept('empty', () => filesAfter(inMemory(), [], ({ pglite }) => dropTemplates(pglite)));
}

async function makeCluster(schemas: readonly ContextSchema[], queue: boolean): Promise<Cluster> {
  return filesAfter(inMemory(await emptyCluster()), schemas, async ({ open, pglite }) => {
    await migrate(open);
    if (queue) await migratePglite(pglite);
  });
}

async function filesAfter(
  options: PGliteOptions,
  schemas: readonly ContextSchema[],
  work: (on: { readonly open: OpenDatabase; readonly pglite: PGlite }) => Promise<void>,
): Promise<Cluster> {
  const open = await openPglite(options, schemas);
  if (open.native.kind !== 'embedded') throw new Error('The database is not in this process');
  const { pglite } = open.native;
  await work({ open, pglite });
  await pglite.exec('checkpoint');
  const made = new Map(filesBelow(filesOf(pglite)));
  await open.close();
  return made;
}

/** Two databases that nothing connects to: two thirds of the files that every opening would copy. */
async function dropTemplates(pglite: PGlite): Promise<void> {
  await pglite.exec('update pg_database set datistemplate = false');
  for (const template of ['template0', 'template1']) await pglite.exec(`drop database ${template}`);
}
