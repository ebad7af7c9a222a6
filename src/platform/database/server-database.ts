import { MikroORM } from '@mikro-orm/core';
import { defineConfig } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { connectFailure } from './connect-failure.js';
import { ConnectionWatchdog } from './connection-watchdog.js';
import { Database } from './database.js';
import { MigrationConnections } from './migration-connections.js';
import type { OpenDatabase } from './database-handle.js';
import { escapeLiteral } from './escape-literal.js';
import { namesOf, ormOptions, withoutEntities } from './orm-options.js';
import { PreparingClient } from './preparing-client.js';
import type { ContextSchema } from './schema.js';

/** How long a request waits for a connection before the database counts as unavailable. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Longer than any statement of the service needs. */
const STATEMENT_TIMEOUT_MS = 30_000;

export interface ServerLimits {
  /** Limit of a statement of the service; migrations have none. */
  readonly statementTimeoutMs?: number;
  /** How long a server may be silent before a migration fails. */
  readonly migrationSilenceMs?: number;
}

/** @throws InvalidSetting if the server cannot be used */
export async function openServer(
  url: string,
  poolSize: number,
  schemas: readonly ContextSchema[],
  { statementTimeoutMs = STATEMENT_TIMEOUT_MS, migrationSilenceMs }: ServerLimits,
): Promise<OpenDatabase> {
  let pool: Pool | undefined;
  const orm = await MikroORM.init(
    defineConfig({
      ...ormOptions(schemas),
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
