import type { OnApplicationShutdown } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Clock } from '../clock/index.js';
import { type WindowRecord, windowRecord } from './limit-storage.js';

const SWEEP_MS = 60_000;

interface Window {
  hits: number;
  readonly endsAt: number;
}

/** Windows in this process's memory. */
export class MemoryWindows implements ThrottlerStorage, OnApplicationShutdown {
  private readonly windows = new Map<string, Window>();
  private readonly stopSweeping: () => void;

  constructor(private readonly clock: Clock) {
    this.stopSweeping = clock.every(SWEEP_MS, () => this.sweep());
  }

  /** Buckets that are held at present. */
  get size(): number {
    return this.windows.size;
  }

  increment(key: string, ttl: number, limit: number): Promise<WindowRecord> {
    const now = this.clock.monotonic();
    let window = this.windows.get(key);
    if (!window || window.endsAt <= now) {
      window = { hits: 0, endsAt: now + ttl };
      this.windows.set(key, window);
    }
    const hits = window.hits + 1;
    if (hits <= limit) window.hits = hits;
    return Promise.resolve(windowRecord(hits, limit, window.endsAt - now));
  }

  /** What `increment` would answer, without counting. `ttl` is in ms. */
  read(key: string, ttl: number, limit: number): Promise<WindowRecord> {
    const now = this.clock.monotonic();
    const window = this.windows.get(key);
    const live = window && window.endsAt > now ? window : { hits: 0, endsAt: now + ttl };
    return Promise.resolve(windowRecord(live.hits + 1, limit, live.endsAt - now));
  }

  onApplicationShutdown(): void {
    this.stopSweeping();
    this.windows.clear();
  }

  private sweep(): void {
    const now = this.clock.monotonic();
    for (const [key, { endsAt }] of this.windows) if (endsAt <= now) this.windows.delete(key);
  }
}
