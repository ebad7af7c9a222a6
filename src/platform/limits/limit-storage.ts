import type { ThrottlerStorage } from '@nestjs/throttler';

/** The record that the throttler's storage answers; the library does not export its name. */
export type WindowRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

const MAX_RETRY_AFTER = 3_600;

/**
 * In seconds, rounded up. `timeToBlockExpire` is what a refused client is told to wait, at most an hour; 0 when it is not refused.
 * @param hits requests in the window, the present one among them; more than `limit` when it is refused
 * @param restMs until the window ends
 */
export function windowRecord(hits: number, limit: number, restMs: number): WindowRecord {
  const timeToExpire = Math.max(0, Math.ceil(restMs / 1000));
  const isBlocked = hits > limit;
  const timeToBlockExpire = isBlocked ? Math.min(Math.max(timeToExpire, 1), MAX_RETRY_AFTER) : 0;
  return { totalHits: hits, timeToExpire, isBlocked, timeToBlockExpire };
}

/**
 * Counts requests in fixed windows, exactly also when many come at once: in the windows that all processes share, and
 * in this process's own while those are away, so that a limit never ceases to hold.
 */
export class LimitStorage implements ThrottlerStorage {
  /** @param perProcess the throttlers that each process counts for itself, also where the others are shared */
  constructor(
    private readonly own: ThrottlerStorage,
    private readonly shared: ThrottlerStorage | null = null,
    private readonly perProcess: ReadonlySet<string> = new Set(),
  ) {}

  increment(...request: Parameters<ThrottlerStorage['increment']>): Promise<WindowRecord> {
    const throttler = request[4];
    if (!this.shared || this.perProcess.has(throttler)) return this.own.increment(...request);
    return this.shared.increment(...request).catch(() => this.own.increment(...request));
  }
}
