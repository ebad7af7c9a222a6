import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Settings } from '../config/index.js';
import { Database } from '../database/index.js';
import { REDIS, REDIS_SUBSCRIBER, type RedisClient } from '../redis/index.js';
import { Logger } from '../telemetry/index.js';
import type { DatabaseSignals } from './database-signals.js';
import { redisSignals } from './redis-signals.js';
import { Signals } from './signals.js';

/** Injection token of the listener on the database; null when the signals do not use it. */
const DATABASE_SIGNALS = Symbol('DATABASE_SIGNALS');

/** Redis where there is one, else the database server; an embedded process is the only one. */
@Global()
@Module({
  providers: [
    {
      provide: DATABASE_SIGNALS,
      inject: [REDIS, Settings, Database, Logger],
      useFactory: async (
        ...[redis, settings, database, logger]: [RedisClient | null, Settings, Database, Logger]
      ): Promise<DatabaseSignals | null> => {
        const url = listeningUrl(settings);
        if (redis || url === undefined) return null;
        // A process loads only what it uses.
        const { DatabaseSignals } = await import('./database-signals.js');
        const listener = new DatabaseSignals(database, url, settings.processName, logger);
        void listener.listen();
        return listener;
      },
    },
    {
      provide: Signals,
      inject: [REDIS, REDIS_SUBSCRIBER, DATABASE_SIGNALS, Settings, Clock],
      useFactory: (
        ...[redis, subscriber, ofDatabase, { redisPrefix }, clock]: [
          RedisClient | null,
          RedisClient | null,
          DatabaseSignals | null,
          Settings,
          Clock,
        ]
      ): Signals =>
        redis && subscriber
          ? redisSignals(redis, subscriber, redisPrefix, clock)
          : (ofDatabase?.signals ?? new Signals(null)),
    },
  ],
  exports: [Signals],
})
export class SignalsModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE_SIGNALS) private readonly listener: DatabaseSignals | null) {}

  async onApplicationShutdown(): Promise<void> {
    await this.listener?.close();
  }
}

/** Where to listen: a connection that no pooler shares. */
function listeningUrl({ databaseUrl, databaseDirectUrl }: Settings): string | undefined {
  return databaseDirectUrl ?? databaseUrl;
}
