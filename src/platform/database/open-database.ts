import { join } from 'node:path';
import { PGlite, types, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { type EntitySchema, MikroORM, type Options } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig as definePglite } from '@mikro-orm/pglite';
import { defineConfig as definePostgres } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { Settings } from '../config/index.js';
import { Database } from './database.js';
import { takeDataFolder } from './data-folder.js';
import { PreparingClient } from './preparing-client.js';
import type { ContextSchema } from './schema.js';
import { SilenceWatch } from './silence-watch.js';

/** How long a request waits for a connection before the database counts as down. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Longer than any statement of the service needs. */
const STATEMENT_TIMEOUT_MS = 30_000;

const asText = (value: string): string => value;
/** The ORM reads dates and intervals from text, which is how its PostgreSQL driver answers them. */
const TEXT_PARSERS = {
  [types.DATE]: asText,
  [types.TIMESTAMP]: asText,
  [types.TIMESTAMPTZ]: asText,
  [types.INTERVAL]: asText,
};

/** The native handle below the ORM, for libraries that bring SQL of their own (the job queue). */
export type NativeDatabase =
  | { readonly kind: 'embedded'; readonly pglite: PGlite }
  | { readonly kind: 'server'; readonly pool: Pool };

export interface OpenDatabase {
  readonly database: Database;
  readonly native: NativeDatabase;
  close(): Promise<void>;
}

/**
 * Opens the database the settings name. Embedded: PostgreSQL inside this process, in `DATA_DIR`,
 * which is locked first.
 * @throws DataFolderInUse
 */
export async function openDatabase(settings: Settings, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  return settings.databaseUrl === undefined
    ? openEmbedded(settings.dataDir, schemas)
    : openServer(settings.databaseUrl, settings.databasePool, schemas);
}

async function openEmbedded(dataDir: string, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  const release = takeDataFolder(dataDir);
  try {
    const open = await openPglite({ dataDir: join(dataDir, 'database') }, schemas);
    return {
      ...open,
      close: async () => {
        await open.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Opens an embedded database where the options say, in memory for one. Takes no lock on a folder. */
export async function openPglite(options: PGliteOptions, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  const pglite = await PGlite.create({ ...options, extensions: { vector }, parsers: TEXT_PARSERS });
  const orm = await MikroORM.init(definePglite({ ...common(schemas), dbName: 'postgres', driverOptions: { pglite } }));
  return {
    database: new Database(orm),
    native: { kind: 'embedded', pglite },
    close: async () => {
      await orm.close();
      await pglite.close();
    },
  };
}

async function openServer(url: string, connections: number, schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  let pool: Pool | undefined;
  const orm = await MikroORM.init(
    definePostgres({
      ...common(schemas),
      clientUrl: url,
      pool: { min: 0, max: connections },
      driverOptions: {
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        statement_timeout: STATEMENT_TIMEOUT_MS,
        query_timeout: STATEMENT_TIMEOUT_MS,
        keepAlive: true,
        Client: PreparingClient,
        onPoolCreated: (created: Pool) => {
          pool = created;
        },
      },
    }),
  );
  await orm.connect();
  if (!pool) throw new Error('The PostgreSQL driver made no pool');
  const watch = new SilenceWatch(pool, url);
  return {
    database: new Database(orm),
    native: { kind: 'server', pool },
    close: async () => {
      watch.stop();
      await orm.close();
    },
  };
}

function common(schemas: readonly ContextSchema[]): Pick<
  Options,
  'entities' | 'extensions' | 'forceUtcTimezone' | 'discovery' | 'logger' | 'migrations'
> {
  const entities: EntitySchema[] = schemas.flatMap((schema) => [...schema.entities]);
  const migrations = schemas
    .flatMap((schema) => [...schema.migrations])
    .sort((left, right) => left.name.localeCompare(right.name, 'en'));
  return {
    entities,
    extensions: [Migrator],
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
    // The driver's own notes; the service logs what it did in one format, by its own logger.
    logger: () => undefined,
    migrations: { tableName: 'schema_migrations', snapshot: false, transactional: true, migrationsList: migrations },
  };
}
