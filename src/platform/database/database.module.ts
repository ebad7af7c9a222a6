import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics, MetricsModule } from '../metrics/index.js';
import { Database } from './database.js';
import type { OpenDatabase } from './open-database.js';
import { measurePool } from './pool-metrics.js';

/** Injection token of the open database with its native handle. */
export const OPEN_DATABASE = Symbol('OPEN_DATABASE');

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(OPEN_DATABASE) private readonly open: OpenDatabase,
    metrics: Metrics,
  ) {
    measurePool(open.native, metrics);
  }

  static forRoot(open: OpenDatabase): DynamicModule {
    const providers = [
      { provide: OPEN_DATABASE, useValue: open },
      { provide: Database, useValue: open.database },
    ];
    return { module: DatabaseModule, imports: [MetricsModule], providers, exports: [OPEN_DATABASE, Database] };
  }

  /** Closes the database last: everything that writes while stopping has done so in earlier phases. */
  onApplicationShutdown(): Promise<void> {
    return this.open.close();
  }
}
