import type { ThrottlerStorage } from '@nestjs/throttler';

/** The record of the throttler's storage; the library does not export its type. */
export type WindowRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** One limit that a request counts against. */
export interface WindowRequest {
  /** Name of the throttler. */
  readonly throttler: string;
  readonly key: string;
  /** Length of the window in ms. */
  readonly ttl: number;
  readonly limit: number;
}

/** Fixed windows, in this process or in Redis. */
export interface WindowStorage {
  /**
   * Counts a request in all windows in one step, or in none when one of them is full.
   * @returns the state of each window, in the order of the requests
   */
  incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]>;
}

const MAX_RETRY_AFTER = 3_600;

/**
 * The times are in seconds, rounded up. `timeToBlockExpire` becomes `Retry-After`: at most an hour, 0 when the request is accepted.
 * @param hits requests in the window with the present one; more than `limit` when it is refused
 * @param restMs until the window ends
 */
export function windowRecord(hits: number, limit: number, restMs: number): WindowRecord {
  const timeToExpire = Math.max(0, Math.ceil(restMs / 1000));
  const isBlocked = hits > limit;
  const timeToBlockExpire = isBlocked ? Math.min(Math.max(timeToExpire, 1), MAX_RETRY_AFTER) : 0;
  return { totalHits: hits, timeToExpire, isBlocked, timeToBlockExpire };
}

/**
 * Counts requests in fixed windows, also exactly when many arrive at once: in the windows that all processes share, and in the
 * windows of this process while Redis is unavailable, so that limits always apply.
 */
export class LimitStorage implements WindowStorage, ThrottlerStorage {
  /** @param perProcess the throttlers that each process counts for itself, even when the others are shared */
  constructor(
    private readonly own: WindowStorage,
    private readonly shared: WindowStorage | null = null,
    private readonly perProcess: ReadonlySet<string> = new Set(),
  ) {}

  async increment(...[key, ttl, limit, , throttler]: Parameters<ThrottlerStorage['increment']>): Promise<WindowRecord> {
    const [record] = await this.incrementAll([{ key, ttl, limit, throttler }]);
    if (!record) throw new Error(`The window ${key} was not counted`);
    return record;
  }

  incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]> {
    const { shared, own } = this;
    const inProcess = requests.filter(({ throttler }) => this.perProcess.has(throttler));
    if (!shared || inProcess.length === requests.length) return own.incrementAll(requests);
    // Two storages cannot count in all windows or in none in one step.
    if (inProcess.length > 0)
      return Promise.reject(new Error('A request counts against limits of the process and shared ones'));
    return shared.incrementAll(requests).catch(() => own.incrementAll(requests));
  }
}
