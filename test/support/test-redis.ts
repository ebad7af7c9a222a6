import { Redis } from 'ioredis';

export const REDIS_URL = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';

/** A connection like the service's, but without its limit for the time of a command, which a busy machine exceeds. */
export async function openRedis(): Promise<Redis> {
  const redis = new Redis(REDIS_URL, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
  await redis.connect();
  return redis;
}

/** Deletes the keys with this prefix, which a test has written, and closes the connection. */
export async function closeRedis(redis: Redis, prefix: string): Promise<void> {
  const keys = await redis.keys(`${prefix}*`);
  if (keys.length > 0) await redis.del(keys);
  await redis.quit();
}
