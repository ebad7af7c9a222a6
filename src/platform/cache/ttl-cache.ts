import type { Clock } from '../clock/index.js';

export interface TtlCacheOptions {
  readonly clock: Clock;
  /** How long an answer holds, counted from the moment its load began: what it shows is never older. */
  readonly ttlMs: number;
  /** The least recently used entry makes room for one more than this. */
  readonly maxEntries: number;
}

interface Entry<Value> {
  readonly value: Promise<Value | undefined>;
  readonly expiresAt: number;
}

/**
 * Answers of seconds, kept in this process. Callers who ask for one key at once share one load.
 * Absence (`undefined`) and failures are not kept: neither invented keys nor an outage push out
 * what is hot.
 */
export class TtlCache<Value> {
  private readonly entries = new Map<string, Entry<Value>>();

  constructor(private readonly options: TtlCacheOptions) {}

  get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const now = this.options.clock.monotonic();
    const known = this.entries.get(key);
    if (known && known.expiresAt > now) {
      this.put(key, known);
      return known.value;
    }
    const entry: Entry<Value> = { value: load(), expiresAt: now + this.options.ttlMs };
    this.put(key, entry);
    void entry.value.then(
      (value) => {
        if (value === undefined) this.forget(key, entry);
      },
      () => {
        this.forget(key, entry);
      },
    );
    return entry.value;
  }

  /** From here on nobody is given an answer whose load began before this call. */
  delete(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  /** A Map keeps the order of insertion, so the entry put last is the one used last. */
  private put(key: string, entry: Entry<Value>): void {
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (this.entries.size <= this.options.maxEntries) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }

  /** The key may hold a later load by now, which stays. */
  private forget(key: string, entry: Entry<Value>): void {
    if (this.entries.get(key) === entry) this.entries.delete(key);
  }
}
