import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { type WindowRecord, windowRecord } from './limit-storage.js';

/**
 * One step inside Redis, so that no two processes read the same count. A refused request is not counted.
 * A key without an expiry (-1) would lock its bucket out for ever, whoever made it; it gets one.
 * Answers the hits with the present one, and the milliseconds that the window has left.
 */
const HIT = `
local hits = tonumber(redis.call('GET', KEYS[1]) or '0')
local rest = redis.call('PTTL', KEYS[1])
if hits < tonumber(ARGV[2]) then redis.call('INCR', KEYS[1]) end
if rest < 0 then
  rest = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], rest)
end
return { hits + 1, rest }`;

type HitWindow = (key: string, ttl: number, limit: number) => Promise<[number, number]>;

/** Windows shared by all processes. Rejects while Redis cannot be reached. */
export class RedisWindows implements ThrottlerStorage {
  private readonly redis: Redis & { readonly hitWindow: HitWindow };

  constructor(
    redis: Redis,
    private readonly prefix = 'limit:',
  ) {
    // Sent once and then named by its digest: the script is ten times the size of a request.
    redis.defineCommand('hitWindow', { numberOfKeys: 1, lua: HIT });
    this.redis = redis as Redis & { readonly hitWindow: HitWindow };
  }

  async increment(key: string, ttl: number, limit: number): Promise<WindowRecord> {
    const [hits, rest] = await this.redis.hitWindow(`${this.prefix}${key}`, ttl, limit);
    return windowRecord(hits, limit, rest);
  }
}
