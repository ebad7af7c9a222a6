/** So many requests in each window; the window starts with the bucket's first request. */
export interface RateLimit {
  /** Names who is counted and for what, such as `chat:<organization>:<agent>`. */
  readonly bucket: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** Counted by each process for itself, also where the others are shared. */
  readonly perProcess?: boolean;
}

export interface RateLimitState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, rounded up. */
  readonly resetSeconds: number;
  /** Seconds to wait before the next request can be allowed, at most 3600; 0 when this one is. */
  readonly retryAfterSeconds: number;
}

/** Counts requests in fixed windows, exactly also when many come at once. Lifetime caps are stored instead. */
export abstract class RateLimiter {
  /** Counts one request. A request beyond the limit is refused and leaves the window as it is. */
  abstract hit(limit: RateLimit): Promise<RateLimitState>;

  /** What `hit` would answer, without counting: for a request that another limit may still refuse. */
  abstract peek(limit: RateLimit): Promise<RateLimitState>;
}
