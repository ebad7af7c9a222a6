import type { Clock } from '../../platform/clock/index.js';

/** How long a key stays familiar after it was last found good. */
const FAMILIAR_MS = 3_600_000;
const MAX_KEYS = 10_000;

/**
 * Digests of keys that were good here lately: an invented key is never among them. Says nothing about whether
 * a key is still good.
 */
export class FamiliarKeys {
  /** When each was last good; a Map keeps the order of insertion, so the one longest unused is the first. */
  private readonly goodAt = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  has(digest: string): boolean {
    const at = this.goodAt.get(digest);
    return at !== undefined && this.clock.monotonic() - at < FAMILIAR_MS;
  }

  /** The key was found good; the one longest unused makes room for it. */
  remember(digest: string): void {
    this.goodAt.delete(digest);
    this.goodAt.set(digest, this.clock.monotonic());
    if (this.goodAt.size <= MAX_KEYS) return;
    const oldest = this.goodAt.keys().next();
    if (!oldest.done) this.goodAt.delete(oldest.value);
  }

  forget(digest: string): void {
    this.goodAt.delete(digest);
  }
}
