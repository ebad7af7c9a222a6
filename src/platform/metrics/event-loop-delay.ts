import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../clock/index.js';

/** Interval of the timer that measures; its lateness is the delay. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 60_000;

/** How late the event loop ran what was due, in seconds. */
export interface Delays {
  readonly p99: number;
  readonly max: number;
}

const NONE: Delays = { p99: 0, max: 0 };

/**
 * The worse of two windows: the current one, and the one before it, of at least a minute. A window ends by time and not
 * when it is read: one reader must not hide a peak from the next.
 */
export class EventLoopDelay {
  private readonly histogram: ELDHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private before = NONE;
  private begunAt: number;

  constructor(private readonly clock: Clock) {
    this.begunAt = clock.monotonic();
  }

  start(): void {
    this.histogram.enable();
  }

  stop(): void {
    this.histogram.disable();
  }

  read(): Delays {
    const now = this.clock.monotonic();
    if (now - this.begunAt >= WINDOW_MS) {
      this.before = this.current();
      this.begunAt = now;
      this.histogram.reset();
    }
    const current = this.current();
    return { p99: Math.max(current.p99, this.before.p99), max: Math.max(current.max, this.before.max) };
  }

  private current(): Delays {
    if (this.histogram.count === 0) return NONE;
    return { p99: delay(this.histogram.percentile(99)), max: delay(this.histogram.max) };
  }
}

function delay(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
}
