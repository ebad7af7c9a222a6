import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock/index.js';

export interface TtlCacheOptions {
  readonly clock: Clock;
  /** How long an answer holds, counted from the moment its load began: what it shows is never older. */
  readonly ttlMs: number;
  /** The least recently used entry makes room for one more than this. */
  readonly maxEntries: number;
}

/**
 * Answers of seconds, kept in this process. Callers who ask for one key at once share one load.
 * Absence (`undefined`) and failures are not kept: neither invented keys nor an outage push out
 * what is hot.
 */
export class TtlCache<Value> {
  private readonly entries: LRUCache<string, Promise<Value | undefined>>;

  constructor({ clock, ttlMs, maxEntries }: TtlCacheOptions) {
    this.entries = new LRUCache({
      max: maxEntries,
      // The last whole millisecond in which an entry is served.
      ttl: ttlMs - 1,
      ttlResolution: 0,
      // The library takes a beginning at 0 for none.
      perf: { now: () => clock.monotonic() + 1 },
    });
  }

  get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.entries.get(key);
    if (known) return known;
    const loading = load();
    this.entries.set(key, loading);
    // The key may hold a later load by then, which stays.
    const forget = (): void => {
      if (this.entries.peek(key) === loading) this.entries.delete(key);
    };
    loading.then((value) => {
      if (value === undefined) forget();
    }, forget);
    return loading;
  }

  /** Later calls of `get` load again; a load that began before this call is not kept. */
  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
