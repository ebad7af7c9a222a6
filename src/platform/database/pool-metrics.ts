import type { Pool } from 'pg';
import type { Metrics } from '../metrics/index.js';
import type { NativeDatabase } from './open-database.js';

const STATES = ['total', 'idle', 'waiting'] as const;

/** How the pool of connections is used. The embedded database has none, and so no series. */
export function measurePool(native: NativeDatabase, metrics: Metrics): void {
  metrics.gauge(
    {
      name: 'agent_service_database_connections',
      help: 'Connections to the database server: all that are open, those without work, and callers that wait for one.',
      labels: { state: STATES },
    },
    () =>
      native.kind === 'server'
        ? STATES.map((state) => ({ labels: { state }, value: countOf(native.pool, state) }))
        : [],
  );
}

function countOf(pool: Pool, state: (typeof STATES)[number]): number {
  switch (state) {
    case 'total':
      return pool.totalCount;
    case 'idle':
      return pool.idleCount;
    case 'waiting':
      return pool.waitingCount;
    default:
      return state satisfies never;
  }
}
