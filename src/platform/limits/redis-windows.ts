import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import {
  incrementOne,
  type WindowRecord,
  type WindowRequest,
  type WindowStorage,
  windowRecord,
} from './limit-storage.js';

/**
 * One step inside Redis, so that no two processes read the same count, and one round trip however many windows a
 * request counts in. A refused request is counted in none of them.
 * A key without an expiry (-1) would keep its bucket full for ever, so it gets one.
 * Answers the hits of each window, one more than its limit where it is full, and the milliseconds that it has left.
 */
const HIT = `
local windows = {}
local counts = true
for i, key in ipairs(KEYS) do
  local hits = tonumber(redis.call('GET', key) or '0')
  local limit = tonumber(ARGV[2 * i])
  if hits >= limit then counts = false end
  windows[i] = { hits, limit }
end
local answer = {}
for i, key in ipairs(KEYS) do
  local hits, limit = windows[i][1], windows[i][2]
  local told = hits >= limit and limit + 1 or hits
  local rest = redis.call('PTTL', key)
  if counts then told = redis.call('INCR', key) end
  if rest < 0 then
    rest = tonumber(ARGV[2 * i - 1])
    redis.call('PEXPIRE', key, rest)
  end
  answer[i] = { told, rest }
end
return answer`;

type HitWindows = (keys: number, ...parameters: (string | number)[]) => Promise<[number, number][]>;

/** Windows shared by all processes. Rejects while Redis cannot be reached. */
export class RedisWindows implements WindowStorage {
  private readonly redis: Redis & { readonly hitWindows: HitWindows };

  constructor(
    redis: Redis,
    private readonly prefix = 'limit:',
  ) {
    // Sent once and then named by its digest: the script is ten times the size of a request.
    redis.defineCommand('hitWindows', { lua: HIT });
    this.redis = redis as Redis & { readonly hitWindows: HitWindows };
  }

  increment(...request: Parameters<ThrottlerStorage['increment']>): Promise<WindowRecord> {
    return incrementOne(this, request);
  }

  async incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]> {
    const keys = requests.map(({ key }) => `${this.prefix}${key}`);
    const bounds = requests.flatMap(({ ttl, limit }) => [ttl, limit]);
    const windows = await this.redis.hitWindows(keys.length, ...keys, ...bounds);
    return windows.map(([hits, rest], index) => windowRecord(hits, requests[index]?.limit ?? 0, rest));
  }
}
