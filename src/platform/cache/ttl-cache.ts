import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock/index.js';
import { entryLimit } from './entry-limit.js';

export interface TtlCacheOptions {
  readonly clock: Clock;
  /** How long a value is served, counted from the start of its load, so that it is never older than this. */
  readonly ttlMs: number;
  /** Beyond this, the least recently used entry is evicted. */
  readonly maxEntries: number;
}

/**
 * Keeps values for a while in this process. Concurrent calls for one key share one load. `undefined` and failures are not kept,
 * so that neither invented keys nor an outage evict what is in use.
 */
export class TtlCache<Value> {
  private readonly entries: LRUCache<string, Promise<Value | undefined>>;

  constructor({ clock, ttlMs, maxEntries }: TtlCacheOptions) {
    this.entries = new LRUCache({
      ...entryLimit(maxEntries),
      // The last whole millisecond in which an entry is served.
      ttl: ttlMs - 1,
      ttlResolution: 0,
      // The library takes a start at 0 for none.
      perf: { now: () => clock.monotonic() + 1 },
    });
  }

  get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.entries.get(key);
    if (known) return known;
    const loading = load();
    this.entries.set(key, loading);
    // A later load of the key stays.
    const forget = (): void => {
      if (this.entries.peek(key) === loading) this.entries.delete(key);
    };
    loading.then((value) => {
      if (value === undefined) forget();
    }, forget);
    return loading;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  set(key: string, value: Value): void {
    this.entries.set(key, Promise.resolve(value));
  }

  /** Later calls of `get` load again; a load that began before this call is not kept. */
  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }
}
