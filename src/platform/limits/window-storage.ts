import type { ThrottlerStorage } from '@nestjs/throttler';

/** The record that the throttler's storage answers; the library does not export its name. */
export type WindowRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The throttler's storage, and a look at a window that does not count. `ttl` is in ms, the record in seconds. */
export interface WindowStorage extends ThrottlerStorage {
  read(key: string, ttl: number, limit: number): Promise<WindowRecord>;
}

/**
 * @param hits requests in the window, the present one among them; more than `limit` when it is refused
 * @param restMs until the window ends
 */
export function windowRecord(hits: number, limit: number, restMs: number): WindowRecord {
  const timeToExpire = Math.max(0, Math.ceil(restMs / 1000));
  const isBlocked = hits > limit;
  return { totalHits: hits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
}
