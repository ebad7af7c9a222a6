import { type RateLimit, RateLimiter, type RateLimitState } from './rate-limiter.js';
import type { WindowRecord, WindowStorage } from './window-storage.js';

const MAX_RETRY_AFTER = 3_600;

/** Counts in the shared windows, and in this process's own while those are away: a limit never ceases to hold. */
export class WindowRateLimiter extends RateLimiter {
  constructor(
    private readonly own: WindowStorage,
    private readonly shared?: WindowStorage,
  ) {
    super();
  }

  hit(limit: RateLimit): Promise<RateLimitState> {
    return this.ask(limit, (storage) => storage.increment(limit.bucket, ttlOf(limit), limit.limit, 0, ''));
  }

  peek(limit: RateLimit): Promise<RateLimitState> {
    return this.ask(limit, (storage) => storage.read(limit.bucket, ttlOf(limit), limit.limit));
  }

  private async ask(
    limit: RateLimit,
    question: (storage: WindowStorage) => Promise<WindowRecord>,
  ): Promise<RateLimitState> {
    const { own, shared } = this;
    const record = shared && !limit.perProcess ? question(shared).catch(() => question(own)) : question(own);
    return stateOf(limit, await record);
  }
}

function ttlOf({ windowSeconds }: RateLimit): number {
  return windowSeconds * 1000;
}

function stateOf(
  { limit }: RateLimit,
  { totalHits, timeToExpire, isBlocked, timeToBlockExpire }: WindowRecord,
): RateLimitState {
  return {
    allowed: !isBlocked,
    limit,
    remaining: Math.max(0, limit - totalHits),
    resetSeconds: timeToExpire,
    retryAfterSeconds: isBlocked ? Math.min(Math.max(timeToBlockExpire, 1), MAX_RETRY_AFTER) : 0,
  };
}
