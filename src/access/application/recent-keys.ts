import type { Clock } from '../../platform/clock/index.js';

/** How long a key counts as recent after its last successful check. */
const RECENT_MS = 3_600_000;
const MAX_KEYS = 10_000;

/**
 * Digests of keys that this process has recently found valid, so never of invented keys. Such a key may have been revoked or
 * expired since.
 */
export class RecentKeys {
  /** Time of the last successful check by digest, the least recent first: a Map keeps the order of insertion. */
  private readonly checkedAt = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  has(digest: string): boolean {
    const at = this.checkedAt.get(digest);
    return at !== undefined && this.clock.monotonic() - at < RECENT_MS;
  }

  remember(digest: string): void {
    this.checkedAt.delete(digest);
    this.checkedAt.set(digest, this.clock.monotonic());
    if (this.checkedAt.size <= MAX_KEYS) return;
    const oldest = this.checkedAt.keys().next();
    if (!oldest.done) this.checkedAt.delete(oldest.value);
  }

  forget(digest: string): void {
    this.checkedAt.delete(digest);
  }
}
