import type { Metrics } from '../metrics/index.js';
import type { NativeDatabase } from './open-database.js';

/** How the pool of connections is used. The embedded database has none, and so no series. */
export function measurePool(native: NativeDatabase, metrics: Metrics): void {
  metrics.gauge(
    {
      name: 'agent_service_database_connections',
      help: 'Connections to the database server: all that are open, those without work, and callers that wait for one.',
      labels: { state: ['total', 'idle', 'waiting'] },
    },
    ({ state }) => (native.kind === 'server' ? native.pool[`${state}Count`] : undefined),
  );
}
