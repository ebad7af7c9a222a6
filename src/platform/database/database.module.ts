import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics, MetricsModule } from '../metrics/index.js';
import { Database } from './database.js';
import type { OpenDatabase } from './database-handle.js';

/** Injection token of the open database with its native handle. */
export const OPEN_DATABASE = Symbol('OPEN_DATABASE');

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(OPEN_DATABASE) private readonly open: OpenDatabase,
    metrics: Metrics,
  ) {
    const { native } = open;
    metrics.gauge(
      {
        name: 'agent_service_database_connections',
        help: 'Connections to the database server: all open ones, those without work, and callers that wait for one.',
        labels: { state: ['total', 'idle', 'waiting'] },
      },
      // The embedded database has no pool, and so no series.
      ({ state }) => (native.kind === 'server' ? native.pool[`${state}Count`] : undefined),
    );
  }

  static forRoot(open: OpenDatabase): DynamicModule {
    const providers = [
      { provide: OPEN_DATABASE, useValue: open },
      { provide: Database, useValue: open.database },
    ];
    return { module: DatabaseModule, imports: [MetricsModule], providers, exports: [OPEN_DATABASE, Database] };
  }

  /** Closes the database last, after everything that writes while the process stops. */
  onApplicationShutdown(): Promise<void> {
    return this.open.close();
  }
}
