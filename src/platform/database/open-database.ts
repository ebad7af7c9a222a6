import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type PGlite, types, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { MikroORM, type Options } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig as definePglite } from '@mikro-orm/pglite';
import { defineConfig as definePostgres } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { InvalidSetting, type Settings } from '../config/index.js';
import { messageOf } from '../errors/index.js';
import { connectFailure } from './connect-failure.js';
import { Database } from './database.js';
import { takeDataFolder } from './data-folder.js';
import { ExactTextPglite } from './exact-text-pglite.js';
import { escapeLiteral } from './escape-literal.js';
import { MigrationConnections, type MigrationSettings } from './migration-connections.js';
import { beginPrepared, PREPARED_DATABASE, preparedVersion, startPart } from './prepared-database.js';
import { PreparingClient } from './preparing-client.js';
import { DocumentHydrator } from './json-document.js';
import type { ContextSchema, NamedMigration } from './schema.js';
import { ConnectionWatchdog } from './connection-watchdog.js';

/** How long a request waits for a connection before the database counts as unavailable. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Longer than any statement of the service needs. */
const STATEMENT_TIMEOUT_MS = 30_000;

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

/** PostgreSQL's own types have lower numbers; row types of tables and types of extensions have higher ones. */
const FIRST_ASSIGNED_TYPE = 10_000;

/** The handle below the ORM, for libraries with their own SQL (the job queue). */
export type NativeDatabase =
  { readonly kind: 'embedded'; readonly pglite: PGlite } | { readonly kind: 'server'; readonly pool: Pool };

export interface OpenDatabase {
  readonly database: Database;
  readonly native: NativeDatabase;
  readonly migrations: Migrations;
  close(): Promise<void>;
}

export interface Migrations {
  readonly names: readonly string[];
  /**
   * @param onWait called when this process begins to wait for another one that migrates
   * @returns the names of those that ran, in order
   */
  run(onWait: () => void): Promise<string[]>;
}

export interface ServerLimits {
  /** Limit of a statement of the service; migrations have none. */
  readonly statementTimeoutMs?: number;
  /** How long a server may be silent before a migration fails. */
  readonly migrationSilenceMs?: number;
}

/**
 * Opens the server that `DATABASE_URL` names, or without it PostgreSQL inside this process, in `DATA_DIR`, which it locks.
 * @throws DataFolderInUse; InvalidSetting if the server cannot be used
 */
export async function openDatabase(
  settings: Settings,
  schemas: readonly ContextSchema[],
  limits: ServerLimits = {},
): Promise<OpenDatabase> {
  return settings.databaseUrl === undefined
    ? openEmbedded(settings.dataDir, schemas)
    : openServer(settings.databaseUrl, settings.databasePool, schemas, limits);
}

async function openEmbedded(dataDir: string, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  const release = takeDataFolder(dataDir);
  try {
    const folder = join(dataDir, 'database');
    if (!existsSync(folder)) await makeDatabase(folder, schemas);
    const pglite = await startPglite({ dataDir: folder }).catch((cause: unknown): never => {
      const why = `the database in ${folder} does not start (${messageOf(cause)})`;
      throw new InvalidSetting(
        `DATA_DIR: ${why}; it is damaged, or is none. Restore it from a backup, or name another folder`,
        { cause },
      );
    });
    return await openRunningPglite(pglite, schemas, async () => {
      await pglite.close();
      release();
    });
  } catch (error) {
    release();
    throw error;
  }
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
export async function startPglite(options: PGliteOptions): Promise<PGlite> {
  const own = { extensions: { vector }, parsers: PARSERS, serializers: SERIALIZERS };
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
  const orm = await MikroORM.init(definePglite({ ...common(schemas), dbName: 'postgres', driverOptions: { pglite } }));
  Object.assign(orm.em.getPlatform(), { escapeLiteral });
  return {
    database: new Database(orm),
    native: { kind: 'embedded', pglite },
    migrations: { names: namesOf(schemas), run: async () => (await orm.migrator.up()).map(({ name }) => name) },
    close: async () => {
      await orm.close();
      await afterClose();
    },
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

async function openServer(
  url: string,
  poolSize: number,
  schemas: readonly ContextSchema[],
  { statementTimeoutMs = STATEMENT_TIMEOUT_MS, migrationSilenceMs }: ServerLimits,
): Promise<OpenDatabase> {
  let pool: Pool | undefined;
  const orm = await MikroORM.init(
    definePostgres({
      ...common(schemas),
      clientUrl: url,
      // Otherwise a misspelt name would create an empty database.
      ensureDatabase: false,
      pool: { min: 0, max: poolSize },
      driverOptions: {
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        statement_timeout: statementTimeoutMs,
        query_timeout: statementTimeoutMs,
        keepAlive: true,
        Client: PreparingClient,
        onPoolCreated: (created: Pool) => {
          pool = created;
        },
      },
    }),
  );
  Object.assign(orm.em.getPlatform(), { escapeLiteral });
  await orm.connect();
  if (!pool) throw new Error('The PostgreSQL driver made no pool');
  try {
    // The driver connects only for the first statement, and the first one of the migrations would create a missing database.
    await pool.query('select 1');
  } catch (error) {
    await orm.close();
    throw connectFailure(error, url);
  }
  const connections = pool;
  const watch = new ConnectionWatchdog(connections, url);
  return {
    database: new Database(orm, connections),
    native: { kind: 'server', pool: connections },
    migrations: new MigrationConnections(namesOf(schemas), withoutEntities(schemas), url, migrationSilenceMs),
    close: async () => {
      watch.stop();
      await orm.close();
      // The query builder ends the pool only if it has sent a statement itself.
      if (!connections.ending) await connections.end();
    },
  };
}

function common(schemas: readonly ContextSchema[]): MigrationSettings & Pick<Options, 'entities' | 'hydrator'> {
  return {
    ...withoutEntities(schemas),
    hydrator: DocumentHydrator,
    entities: schemas.flatMap((schema) => [...schema.entities]),
  };
}

function migrationsOf(schemas: readonly ContextSchema[]): NamedMigration[] {
  return schemas
    .flatMap((schema) => [...schema.migrations])
    .sort((left, right) => left.name.localeCompare(right.name, 'en'));
}

function namesOf(schemas: readonly ContextSchema[]): string[] {
  return migrationsOf(schemas).map(({ name }) => name);
}

function withoutEntities(schemas: readonly ContextSchema[]): MigrationSettings {
  return {
    extensions: [Migrator],
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
    // The service logs in its own format.
    logger: () => undefined,
    migrations: {
      tableName: 'schema_migrations',
      snapshot: false,
      transactional: true,
      migrationsList: migrationsOf(schemas),
    },
  };
}
