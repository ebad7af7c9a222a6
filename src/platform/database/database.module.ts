import { type DynamicModule, Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Database } from './database.js';
import type { OpenDatabase } from './open-database.js';

/** Injection token of the open database with its native handle. */
export const OPEN_DATABASE = Symbol('OPEN_DATABASE');

/** Closes the database last: everything that writes while stopping has done so in earlier phases. */
@Injectable()
class DatabaseCloser implements OnApplicationShutdown {
  constructor(@Inject(OPEN_DATABASE) private readonly open: OpenDatabase) {}

  async onApplicationShutdown(): Promise<void> {
    await this.open.close();
  }
}

@Global()
@Module({})
export class DatabaseModule {
  static forRoot(open: OpenDatabase): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: OPEN_DATABASE, useValue: open },
        { provide: Database, useValue: open.database },
        DatabaseCloser,
      ],
      exports: [OPEN_DATABASE, Database],
    };
  }
}
