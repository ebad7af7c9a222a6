import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { PGlite, types, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { MikroORM } from '@mikro-orm/core';
import { defineConfig } from '@mikro-orm/pglite';
import { InvalidSetting } from '../config/index.js';
import { isDiskFull, messageOf } from '../errors/index.js';
import { Database, type SqlExecutor } from './database.js';
import { refuseHalfRestored, takeDataFolder } from './data-folder.js';
import { ExactTextPglite } from './exact-text-pglite.js';
import { lacksRoom } from './free-space.js';
import type { OpenDatabase } from './database-handle.js';
import { escapeLiteral } from './escape-literal.js';
import { type MigrationSession, Migrator } from './migrator.js';
import { ormOptions } from './orm-options.js';
import { beginPrepared, PREPARED_DATABASE, preparedVersion, startPart } from './prepared-database.js';
import { type ContextSchema, migrationsOf } from './schema.js';

const asText = (value: string): string => value;
/** PGlite converts byte by byte: the secrets of one agent, 5 MB, blocked the thread for half a second. */
const BYTES = {
  read: (value: string): Buffer => Buffer.from(value.slice('\\x'.length), 'hex'),
  write: ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
    `\\x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`,
};
/** The ORM parses dates and intervals itself, from text as its PostgreSQL driver returns it. */
const PARSERS = {
  [types.BYTEA]: BYTES.read,
  [types.DATE]: asText,
  [types.TIMESTAMP]: asText,
  [types.TIMESTAMPTZ]: asText,
  [types.INTERVAL]: asText,
};
const SERIALIZERS = { [types.BYTEA]: BYTES.write };

/**
 * PGlite fills its buffers with zeros at the start, so all of them are resident: 128 MB by default. Pages beyond them come from the
 * cache of the operating system.
 */
const START_PARAMETERS = [...PGlite.defaultStartParams, '-c', 'shared_buffers=64MB'];

/** PostgreSQL's own types have lower numbers; row types of tables and types of extensions have higher ones. */
const FIRST_ASSIGNED_TYPE = 10_000;

/**
 * Opens PostgreSQL inside this process, in a folder that it locks.
 * @throws DataFolderInUse; InvalidSetting if the database in it does not start
 */
export async function openEmbedded(dataDir: string, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  const release = takeDataFolder(dataDir);
  try {
    refuseHalfRestored(dataDir);
    const folder = join(dataDir, 'database');
    if (!existsSync(folder)) await makeDatabase(folder, schemas);
    const pglite = await startPglite({ dataDir: folder }).catch(async (cause: unknown): Promise<never> => {
      // PGlite does not say what it could not write.
      if (await lacksRoom(folder)) throw noRoom(dataDir, cause);
      const why = `the database in ${folder} does not start (${messageOf(cause)})`;
      throw new InvalidSetting(
        `DATA_DIR: ${why}; it is damaged, or is none. Restore it from a backup, or name another folder`,
        { cause },
      );
    });
    const open = await openRunningPglite(pglite, schemas, async () => {
      await pglite.close();
      release();
    });
    return { ...open, onCrash: (listener) => (pglite.onCrash = listener) };
  } catch (error) {
    release();
    throw isDiskFull(error) ? noRoom(dataDir, error) : error;
  }
}

function noRoom(dataDir: string, cause: unknown): InvalidSetting {
  return new InvalidSetting(`DATA_DIR: no space is left in ${dataDir} for the database`, { cause });
}

async function makeDatabase(folder: string, schemas: readonly ContextSchema[]): Promise<void> {
  if (beginPrepared(folder, preparedVersion(schemas), PREPARED_DATABASE)) return;
  const part = startPart(folder);
  const pglite = await startPglite({ dataDir: part });
  await pglite.close();
  renameSync(part, folder);
}

/** Opens an embedded database, for example in memory. Does not lock a folder. */
export async function openPglite(options: PGliteOptions, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  const pglite = await startPglite(options);
  return openRunningPglite(pglite, schemas, () => pglite.close());
}

/** Starts an embedded database, whose tables may be missing. */
export async function startPglite(options: PGliteOptions): Promise<ExactTextPglite> {
  // Each thread that compiles keeps up to 50 MB of its memory for later.
  setFlagsFromString('--wasm-num-compilation-tasks=1');
  const own = { extensions: { vector }, parsers: PARSERS, serializers: SERIALIZERS, startParams: START_PARAMETERS };
  const pglite = new ExactTextPglite({ ...options, ...own });
  await pglite.waitReady;
  forgetRowTypes(pglite);
  return pglite;
}

/** Opens a database that `startPglite` started. Closing runs `afterClose`, which by default leaves it running. */
export async function openRunningPglite(
  pglite: PGlite,
  schemas: readonly ContextSchema[],
  afterClose: () => Promise<void> = () => Promise.resolve(),
): Promise<OpenDatabase> {
  const orm = await MikroORM.init(
    defineConfig({ ...ormOptions(schemas), dbName: 'postgres', driverOptions: { pglite } }),
  );
  Object.assign(orm.em.getPlatform(), { escapeLiteral });
  const all = migrationsOf(schemas);
  return {
    database: new Database(orm),
    native: { kind: 'embedded', pglite },
    migrations: { all, run: (onWait) => new Migrator(all, embeddedSession(pglite)).run(onWait) },
    close: async () => {
      await orm.close();
      await afterClose();
    },
  };
}

/** The process that holds the data folder is the only one that migrates. */
function embeddedSession(pglite: PGlite): MigrationSession {
  const executorOf = (connection: Pick<PGlite, 'query'>): SqlExecutor => ({
    query: async <Row extends object>(sql: string, parameters: readonly unknown[] = []) =>
      (await connection.query<Row>(sql, [...parameters])).rows,
  });
  return {
    ...executorOf(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(executorOf(transaction as Pick<PGlite, 'query'>))),
    lock: () => Promise.resolve(),
  };
}

/**
 * PGlite has a parser for arrays of each type, including row types of tables, and copies all parsers for each statement: a third of
 * the time of a short one. The service does not read arrays of rows.
 */
function forgetRowTypes(pglite: PGlite): void {
  const known = Object.entries(pglite.parsers);
  pglite.parsers = Object.fromEntries(known.filter(([type]) => Number(type) < FIRST_ASSIGNED_TYPE));
}
