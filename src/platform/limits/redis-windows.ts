import type { Clock } from '../clock/index.js';
import { RedisBreaker, type RedisClient } from '../redis/index.js';
import { type WindowRecord, windowRecord, type WindowRequest, type WindowStorage } from './limit-storage.js';

/**
 * A script, so that no two processes read the same count, and one round trip for all windows of a request. A refused request is
 * counted in none of them. A key without an expiry (-1) gets one, because its window would stay full forever.
 * Returns for each window its hits (limit + 1 when it is full) and the milliseconds until its end.
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
  local shown = hits >= limit and limit + 1 or hits
  local rest = redis.call('PTTL', key)
  if counts then shown = redis.call('INCR', key) end
  if rest < 0 then
    rest = tonumber(ARGV[2 * i - 1])
    redis.call('PEXPIRE', key, rest)
  end
  answer[i] = { shown, rest }
end
return answer`;

type HitWindows = (keys: number, ...parameters: (string | number)[]) => Promise<[number, number][]>;

/** Windows shared by all processes. Rejects while Redis cannot be reached; while it hangs, one request a second waits for it. */
export class RedisWindows implements WindowStorage {
  private readonly redis: RedisClient & { readonly hitWindows: HitWindows };
  private readonly breaker: RedisBreaker;

  constructor(
    redis: RedisClient,
    clock: Clock,
    private readonly prefix = 'limit:',
  ) {
    // Sent once and then named by its digest, because the script is ten times as large as a request.
    redis.defineCommand('hitWindows', { lua: HIT });
    this.redis = redis as RedisClient & { readonly hitWindows: HitWindows };
    this.breaker = new RedisBreaker(redis, clock);
  }

  async incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]> {
    const keys = requests.map(({ key }) => `${this.prefix}${key}`);
    const bounds = requests.flatMap(({ ttl, limit }) => [ttl, limit]);
    const windows = await this.hit(keys, bounds);
    return windows.map(([hits, rest], index) => windowRecord(hits, requests[index]?.limit ?? 0, rest));
  }
  private async hit(keys: readonly string[], bounds: readonly number[]): Promise<[number, number][]> {
    if (this.breaker.refuses()) throw new Error('Redis did not answer a moment ago');
    try {
      const windows = await this.redis.hitWindows(keys.length, ...keys, ...bounds);
      this.breaker.worked();
      return windows;
    } catch (error) {
      this.breaker.failed(error);
      throw error;
    }
  }
}
