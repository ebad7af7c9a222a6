import type { ThrottlerStorage } from '@nestjs/throttler';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Redis } from 'ioredis';
import type { Budget } from '../../src/access/http/limit-refusals.js';
import { Settings } from '../../src/platform/config/index.js';
import { MemoryWindows } from '../../src/platform/limits/index.js';
import { REDIS } from '../../src/platform/redis/index.js';

/** Uses up a budget of so many requests in a minute. */
export async function useUpBudget(
  storage: ThrottlerStorage,
  bucket: string,
  limit: number,
  throttler: Budget = 'chat',
): Promise<void> {
  let spent = 0;
  // Not simply so many requests: one that Redis does not answer in time counts elsewhere.
  while (spent < limit) spent = (await storage.increment(bucket, 60_000, limit, 0, throttler)).totalHits;
}

/** Begins the window of a budget anew, without any time passing: Redis has a clock of its own. */
export async function renewBudget(app: NestFastifyApplication, bucket: string): Promise<void> {
  (Reflect.get(app.get(MemoryWindows), 'windows') as Map<string, unknown>).delete(bucket);
  await app.get<Redis | null>(REDIS)?.del(`${app.get(Settings).redisPrefix}-limit:${bucket}`);
}
