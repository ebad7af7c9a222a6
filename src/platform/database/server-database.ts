import { MikroORM } from '@mikro-orm/core';
import { defineConfig } from '@mikro-orm/postgresql';
import type { ClientConfig, Pool } from 'pg';
import { connectFailure } from './connect-failure.js';
import { ConnectionWatchdog, OF_REQUESTS } from './connection-watchdog.js';
import { InvalidSetting } from '../config/index.js';
import { Database } from './database.js';
import { withMigrationSession } from './migration-connections.js';
import { Migrator } from './migrator.js';
import type { OpenDatabase } from './database-handle.js';
import { escapeLiteral } from './escape-literal.js';
import { ormOptions } from './orm-options.js';
import { preparingClient, StatementNames } from './preparing-client.js';
import { type ContextSchema, migrationsOf } from './schema.js';
import { findRoute, isSameDatabase, type ServerRoute, sharesConnections } from './server-route.js';

/** How long a request waits for a connection before the database counts as unavailable. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Longer than any statement of the service needs. */
const STATEMENT_TIMEOUT_MS = 30_000;
const DIRECT_URL_MISSING =
  'DATABASE_DIRECT_URL: is required, because DATABASE_URL leads to a connection pooler, and migrations need a connection of their own; ' +
  'name the server past the pooler';
const DIRECT_URL_POOLED =
  'DATABASE_DIRECT_URL: leads to a connection pooler that gives other clients the connection between two transactions; ' +
  'name the server itself, or a pooler in session mode';
const DIRECT_URL_ELSEWHERE =
  'DATABASE_DIRECT_URL: leads to another database than DATABASE_URL; it must name the same one, past the pooler';

export interface ServerLimits {
  /** Limit of a statement of the service; migrations have none. */
  readonly statementTimeoutMs?: number;
  /** How long a server may be silent before a migration fails. */
  readonly migrationSilenceMs?: number;
}

export interface ServerAddress {
  readonly url: string;
  /** The same server past a pooler; undefined when the operator names none. */
  readonly directUrl: string | undefined;
  readonly poolSize: number;
  /** How connections are called in `pg_stat_activity`. */
  readonly name: string;
}

/** @throws InvalidSetting if the server cannot be used */
export async function openServer(
  { url, directUrl: givenDirectUrl, poolSize, name }: ServerAddress,
  schemas: readonly ContextSchema[],
  { statementTimeoutMs = STATEMENT_TIMEOUT_MS, migrationSilenceMs }: ServerLimits,
): Promise<OpenDatabase> {
  // `pg` reads more parameters of the URL than the ORM does, such as `sslmode`; a name in it takes precedence.
  const address = { connectionString: url, fallback_application_name: name };
  const route = await routeOf(url, givenDirectUrl, address);
  const directUrl = givenDirectUrl ?? url;
  const names = new StatementNames(route.keepsPrepared);
  let pool: Pool | undefined;
  const orm = await MikroORM.init(
    defineConfig({
      ...ormOptions(schemas),
      clientUrl: url,
      // Otherwise a misspelt name would create an empty database.
      ensureDatabase: false,
      pool: { min: 0, max: poolSize },
      driverOptions: {
        ...address,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        // Poolers refuse the parameter.
        ...(!route.isPooled && { statement_timeout: statementTimeoutMs }),
        query_timeout: statementTimeoutMs,
        keepAlive: true,
        Client: preparingClient(names),
        onPoolCreated: (created: Pool) => {
          pool = created;
        },
      },
    }),
  );
  Object.assign(orm.em.getPlatform(), { escapeLiteral });
  await orm.connect();
  if (!pool) throw new Error('The PostgreSQL driver made no pool');
  const connections = pool;
  const all = migrationsOf(schemas);
  const watch = new ConnectionWatchdog(
    connections,
    url,
    { ...OF_REQUESTS, ...(route.isPooled && { limitMs: statementTimeoutMs }) },
    directUrl,
  );
  return {
    database: new Database(orm, connections, names),
    native: { kind: 'server', pool: connections },
    migrations: {
      all,
      run: (onWait) =>
        withMigrationSession({ url: directUrl, name }, migrationSilenceMs, (session) =>
          new Migrator(all, session).run(onWait),
        ),
    },
    close: async () => {
      watch.stop();
      await orm.close();
      // The query builder ends the pool only if it has sent a statement itself.
      if (!connections.ending) await connections.end();
    },
  };
}

/** Before the pool exists, because its connections depend on it; and the first statement of the ORM would create a missing database. */
async function routeOf(url: string, directUrl: string | undefined, address: ClientConfig): Promise<ServerRoute> {
  const limited = { ...address, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS };
  const route = await findRoute(limited).catch((error: unknown) => {
    throw connectFailure(error, 'DATABASE_URL', url);
  });
  if (directUrl === undefined) {
    if (route.isPooled) throw new InvalidSetting(DIRECT_URL_MISSING);
    return route;
  }
  const reason = await unfitness({ ...limited, connectionString: directUrl }, limited).catch((error: unknown) => {
    throw connectFailure(error, 'DATABASE_DIRECT_URL', directUrl);
  });
  if (reason !== null) throw new InvalidSetting(reason);
  return route;
}

/** @returns why the address cannot be the direct one; null when it can */
async function unfitness(direct: ClientConfig, queries: ClientConfig): Promise<string | null> {
  // The lock of a migration would stay behind on a connection of the pooler, and nothing would be heard over it.
  if (await sharesConnections(direct)) return DIRECT_URL_POOLED;
  // Migrations would prepare a database that no query reaches.
  return (await isSameDatabase(direct, queries)) ? null : DIRECT_URL_ELSEWHERE;
}
