import { type DynamicModule, Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { Settings } from '../config/index.js';
import { HealthCheck } from '../http/index.js';
import { Logger } from '../telemetry/index.js';

/** Injection token of the connection to Redis, which is null without `REDIS_URL`. */
export const REDIS = Symbol('REDIS');

/** More than Redis needs within one network. Every caller has a fallback for an unreachable Redis. */
const COMMAND_MS = 500;
const MAX_RETRY_MS = 2_000;

/**
 * A connection whose commands fail immediately while Redis is unreachable, and which reconnects by itself. Not for blocking commands.
 */
export function connectRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    connectTimeout: MAX_RETRY_MS,
    retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RETRY_MS),
  });
  let down = false;
  redis.on('error', (error: Error) => {
    // One line for each outage; the client reports each of its attempts.
    if (!down) logger.warn({ err: error }, 'Redis cannot be reached');
    down = true;
  });
  redis.on('ready', () => {
    if (down) logger.info({}, 'Redis can be reached again');
    down = false;
  });
  return redis;
}

@Injectable()
class RedisConnection extends HealthCheck implements OnApplicationShutdown {
  readonly name = 'redis';

  constructor(@Inject(REDIS) private readonly redis: Redis) {
    super();
  }

  async check(): Promise<void> {
    await this.redis.ping();
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

@Global()
@Module({})
export class RedisModule {
  static forRoot(settings: Settings): DynamicModule {
    const { redisUrl } = settings;
    if (redisUrl === undefined) {
      return { module: RedisModule, providers: [{ provide: REDIS, useValue: null }], exports: [REDIS] };
    }
    const connection = {
      provide: REDIS,
      inject: [Logger],
      useFactory: async (logger: Logger): Promise<Redis> => {
        const redis = connectRedis(redisUrl, logger);
        // The start does not wait for an unreachable Redis: all parts work without it, with less precise limits.
        await redis.connect().catch(() => undefined);
        return redis;
      },
    };
    return { module: RedisModule, providers: [connection, RedisConnection], exports: [REDIS] };
  }
}
