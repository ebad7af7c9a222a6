import type { ThrottlerStorage } from '@nestjs/throttler';

/** The record that the throttler's storage answers; the library does not export its name. */
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

/** The throttler's storage, for a request that counts against several limits. */
export interface WindowStorage extends ThrottlerStorage {
  /**
   * Counts the request in all of the windows, or in none where one of them is full, in one step.
   * @returns the state of each, in their order
   */
  incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]>;
}

const MAX_RETRY_AFTER = 3_600;

/**
 * In seconds, rounded up. `timeToBlockExpire` is the wait that a refused client reads in Retry-After, at most an hour; 0 when it is not refused.
 * @param hits requests in the window, the present one among them; more than `limit` when it is refused
 * @param restMs until the window ends
 */
export function windowRecord(hits: number, limit: number, restMs: number): WindowRecord {
  const timeToExpire = Math.max(0, Math.ceil(restMs / 1000));
  const isBlocked = hits > limit;
  const timeToBlockExpire = isBlocked ? Math.min(Math.max(timeToExpire, 1), MAX_RETRY_AFTER) : 0;
  return { totalHits: hits, timeToExpire, isBlocked, timeToBlockExpire };
}

/** The throttler asks for one window at a time. */
export async function incrementOne(
  storage: Pick<WindowStorage, 'incrementAll'>,
  [key, ttl, limit, , throttler]: Parameters<ThrottlerStorage['increment']>,
): Promise<WindowRecord> {
  const [record] = await storage.incrementAll([{ key, ttl, limit, throttler }]);
  if (!record) throw new Error(`The window ${key} was not counted`);
  return record;
}

/**
 * Counts requests in fixed windows, exactly also when many come at once: in the windows that all processes share, and
 * in this process's own while those are away, so that a limit never ceases to hold.
 */
export class LimitStorage implements WindowStorage {
  /** @param perProcess the throttlers that each process counts for itself, also where the others are shared */
  constructor(
    private readonly own: WindowStorage,
    private readonly shared: WindowStorage | null = null,
    private readonly perProcess: ReadonlySet<string> = new Set(),
  ) {}

  increment(...request: Parameters<ThrottlerStorage['increment']>): Promise<WindowRecord> {
    return incrementOne(this, request);
  }

  incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]> {
    const { shared, own } = this;
    const inProcess = requests.filter(({ throttler }) => this.perProcess.has(throttler));
    if (!shared || inProcess.length === requests.length) return own.incrementAll(requests);
    // Two storages cannot count all or nothing in one step.
    if (inProcess.length > 0)
      return Promise.reject(new Error('A request counts against limits of the process and shared ones'));
    return shared.incrementAll(requests).catch(() => own.incrementAll(requests));
  }
}
