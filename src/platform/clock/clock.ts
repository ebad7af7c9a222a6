import { setTimeout as sleep } from 'node:timers/promises';

/** The source of time. Tests inject their own clock, so that no test waits for real time. */
export abstract class Clock {
  /** The time of the wall clock, which can be set forward and back: for timestamps, and for comparing with stored ones. */
  abstract now(): Date;
  /** Whole milliseconds that never jump, for durations, deadlines and caches. Only differences have a meaning. */
  abstract monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  abstract after(ms: number, task: () => void): () => void;
  /** Runs `task` every `ms`; the returned function stops it. Never keeps the process alive. */
  abstract every(ms: number, task: () => void): () => void;

  /** Measures a duration from now on. */
  stopwatch(): Stopwatch {
    const startedAt = this.now();
    const start = this.monotonic();
    return { startedAt, elapsedMs: () => this.monotonic() - start };
  }
}

export interface Stopwatch {
  readonly startedAt: Date;
  /** Whole milliseconds since then, also when the wall clock was set meanwhile. */
  readonly elapsedMs: () => number;
}

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }

  monotonic(): number {
    // With fractions, `now + 30_000 - now` can be more than 30,000, and would be rounded up to 31 seconds.
    return Math.floor(performance.now());
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await sleep(ms, undefined, signal && { signal });
    } catch (error) {
      // Node rejects with an error of its own instead of the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  }

  after(ms: number, task: () => void): () => void {
    const timer = setTimeout(task, ms);
    return () => {
      clearTimeout(timer);
    };
  }

  every(ms: number, task: () => void): () => void {
    const timer = setInterval(task, ms);
    timer.unref();
    return () => {
      clearInterval(timer);
    };
  }
}
