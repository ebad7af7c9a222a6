import { setTimeout as sleep } from 'node:timers/promises';

/** Time as the code sees it. Tests inject a clock of their own, so nothing waits for the wall's. */
export abstract class Clock {
  /** The wall clock's time, which can be set forth and back: for timestamps and what is compared with stored ones. */
  abstract now(): Date;
  /** Whole milliseconds that never jump; only differences mean something. For durations, deadlines and what is kept for a while. */
  abstract monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  abstract after(ms: number, task: () => void): () => void;
  /** Runs `task` every `ms`; the returned function stops it. Never keeps the process alive. */
  abstract every(ms: number, task: () => void): () => void;

  /** Measures something that begins now. */
  stopwatch(): Stopwatch {
    const startedAt = this.now();
    const start = this.monotonic();
    return { startedAt, elapsedMs: () => this.monotonic() - start };
  }
}

export interface Stopwatch {
  readonly startedAt: Date;
  /** Whole milliseconds since then, whatever became of the wall clock meanwhile. */
  readonly elapsedMs: () => number;
}

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }

  monotonic(): number {
    // With fractions, `now + 30_000 - now` can come out above 30,000, and what is rounded up from it a second long.
    return Math.floor(performance.now());
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await sleep(ms, undefined, signal && { signal });
    } catch (error) {
      // Told as an error of the timer's own.
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
