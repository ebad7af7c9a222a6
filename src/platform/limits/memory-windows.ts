import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import { type WindowRecord, windowRecord, type WindowRequest, type WindowStorage } from './limit-storage.js';

const SWEEP_MS = 60_000;

interface Window {
  hits: number;
  readonly endsAt: number;
}

/** Windows in the memory of this process. */
export class MemoryWindows implements WindowStorage, OnApplicationShutdown {
  private readonly windows = new Map<string, Window>();
  private readonly stopSweeping: () => void;

  constructor(private readonly clock: Clock) {
    this.stopSweeping = clock.every(SWEEP_MS, () => this.sweep());
  }

  /** The number of windows in memory. */
  get size(): number {
    return this.windows.size;
  }

  incrementAll(requests: readonly WindowRequest[]): Promise<WindowRecord[]> {
    const now = this.clock.monotonic();
    const opened = requests.map(({ key, ttl, limit }) => ({ window: this.open(key, ttl, now), limit }));
    const counts = opened.every(({ window, limit }) => window.hits < limit);
    const records = opened.map(({ window, limit }) => {
      const isFull = window.hits >= limit;
      if (counts) window.hits += 1;
      return windowRecord(isFull ? limit + 1 : window.hits, limit, window.endsAt - now);
    });
    return Promise.resolve(records);
  }

  /** The state of a window, without counting. */
  read({ key, ttl, limit }: WindowRequest): WindowRecord {
    const now = this.clock.monotonic();
    const window = this.windows.get(key);
    const isOpen = window !== undefined && window.endsAt > now;
    return windowRecord(isOpen ? window.hits : 0, limit, isOpen ? window.endsAt - now : ttl);
  }

  onApplicationShutdown(): void {
    this.stopSweeping();
    this.windows.clear();
  }

  private open(key: string, ttl: number, now: number): Window {
    const known = this.windows.get(key);
    if (known && known.endsAt > now) return known;
    const window = { hits: 0, endsAt: now + ttl };
    this.windows.set(key, window);
    return window;
  }

  private sweep(): void {
    const now = this.clock.monotonic();
    for (const [key, { endsAt }] of this.windows) if (endsAt <= now) this.windows.delete(key);
  }
}
