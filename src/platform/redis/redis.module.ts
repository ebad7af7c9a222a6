import { type DynamicModule, Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Settings } from '../config/index.js';
import { HealthFact } from '../http/index.js';
import { Logger } from '../telemetry/index.js';
import { SUBSCRIBE_MS, within } from './answers.js';
import { duplicateRedis, openRedis, type RedisClient, redisName } from './open-redis.js';

/** Injection token of the connection to Redis, which is null without `REDIS_URL`. */
export const REDIS = Symbol('REDIS');

/**
 * Injection token of the connection for all subscriptions, which is null without `REDIS_URL`. Its users subscribe again whenever it
 * is ready, and the run log closes it.
 */
export const REDIS_SUBSCRIBER = Symbol('REDIS_SUBSCRIBER');

const TOKENS = [REDIS, REDIS_SUBSCRIBER];

/** More than Redis needs within one network. Every caller has a fallback for an unreachable Redis. */
const COMMAND_MS = 500;
const MAX_RETRY_MS = 2_000;
/** How long the start waits for the first connection. */
const START_MS = 2_000;
/** How long the key that readiness writes is kept. */
const PROBE_MS = 10_000;

/**
 * A connection whose commands fail immediately while Redis is unreachable, and which reconnects by itself. Not for blocking commands.
 */
export function connectRedis(url: string, connectionName: string, logger: Logger): RedisClient {
  const redis = openRedis(url, {
    connectionName,
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

/**
 * Waits for the connection for a while only: a cluster that serves no keys neither lets in nor refuses. The client goes on trying.
 * @param earlier a connection to the same servers; nothing waits again if it is not ready
 * @returns whether the client is ready
 */
export async function connectInTime(redis: RedisClient, earlier?: RedisClient): Promise<boolean> {
  const connected = redis.connect().catch(() => undefined);
  if (earlier && earlier.status !== 'ready') return false;
  await within(START_MS, connected).catch(() => undefined);
  return redis.status === 'ready';
}

/** Opens a connection for subscriptions like the given one. If Redis is unreachable it connects later. */
export async function connectSubscriber(redis: RedisClient, processName: string): Promise<RedisClient> {
  const connectionName = redisName(processName, 'news');
  const subscriber = duplicateRedis(redis, { connectionName, commandTimeout: SUBSCRIBE_MS, autoResubscribe: false });
  // The given connection reports an outage.
  subscriber.on('error', () => undefined);
  await connectInTime(subscriber, redis);
  return subscriber;
}

/** A fact and not a check: without Redis every process serves, and a balancer must not take out all of them at once. */
@Injectable()
class RedisConnection extends HealthFact implements OnApplicationShutdown {
  readonly name = 'redis';
  readonly values = ['ok', 'away'];
  readonly description =
    'Only with `REDIS_URL`. `away`: Redis does not answer, or does not take writes. Requests are served; limits count in each process, jobs wait, and a reader of a run of another process gets its reply when it has ended.';

  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly settings: Settings,
  ) {
    super();
  }

  /** Writes, because a full server, a replica and a cluster that lacks a node still answer everything else. */
  value(): Promise<string> {
    return this.redis.set(`${this.settings.redisPrefix}:ready`, 1, 'PX', PROBE_MS).then(
      () => 'ok',
      () => 'away',
    );
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

@Global()
@Module({})
export class RedisModule {
  static forRoot(settings: Settings): DynamicModule {
    const { redisUrl, processName } = settings;
    if (redisUrl === undefined) {
      const providers = TOKENS.map((provide) => ({ provide, useValue: null }));
      return { module: RedisModule, providers, exports: TOKENS };
    }
    const connection = {
      provide: REDIS,
      inject: [Logger],
      useFactory: async (logger: Logger): Promise<RedisClient> => {
        const redis = connectRedis(redisUrl, redisName(processName, 'limits'), logger);
        // The start does not wait for an unreachable Redis: all parts work without it, with less precise limits.
        if (!(await connectInTime(redis))) logger.warn({}, 'The process starts without Redis, which is not ready');
        return redis;
      },
    };
    const subscriber = {
      provide: REDIS_SUBSCRIBER,
      inject: [REDIS],
      useFactory: (redis: RedisClient) => connectSubscriber(redis, processName),
    };
    return { module: RedisModule, providers: [connection, subscriber, RedisConnection], exports: TOKENS };
  }
}
