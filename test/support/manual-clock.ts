import { Clock } from '../../src/platform/clock/index.js';

interface Timer {
  due: number;
  readonly every: number | undefined;
  readonly run: () => void;
}

/** A clock that a test advances. */
export class ManualClock extends Clock {
  private readonly start: number;
  /** Time that has passed; timers are due by it. */
  private current = 0;
  private jumped = 0;
  private readonly timers = new Set<Timer>();
  private sleepers = 0;
  private watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(start: Date | string = '2026-01-01T00:00:00.000Z') {
    super();
    this.start = new Date(start).getTime();
  }

  now(): Date {
    return new Date(this.start + this.current + this.jumped);
  }

  monotonic(): number {
    return Math.floor(this.current);
  }

  /** Changes the wall clock without advancing time. */
  jump(ms: number): void {
    this.jumped += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => {
        this.sleepers -= 1;
        cancel();
        reject(signal?.reason as Error);
      };
      const cancel = this.after(ms, () => {
        this.sleepers -= 1;
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      this.sleepers += 1;
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** How many sleep: calls of `sleep` alone, without the timers. */
  sleeping(): number {
    return this.sleepers;
  }

  after(ms: number, task: () => void): () => void {
    return this.schedule({ due: this.current + ms, every: undefined, run: task });
  }

  every(ms: number, task: () => void): () => void {
    return this.schedule({ due: this.current + ms, every: Math.max(1, ms), run: task });
  }

  /** How many sleepers and timers wait. */
  pending(): number {
    return this.timers.size;
  }

  /** When the next of them is due, in milliseconds from now; undefined when none waits. */
  nextIn(): number | undefined {
    const next = this.next();
    return next === undefined ? undefined : next.due - this.current;
  }

  /** Resolves as soon as at least `count` wait: the moment from which `advance` can wake them. */
  untilPending(count = 1): Promise<void> {
    if (this.timers.size >= count) return Promise.resolve();
    return new Promise((resolve) => this.watchers.push({ count, resolve }));
  }

  /**
   * Moves the time on, running what falls due in order, each at its own time. What a task sets off is
   * let run before the next one, so that it may schedule more within the same stretch.
   */
  async advance(ms: number): Promise<void> {
    const target = this.current + ms;
    for (let next = this.next(); next !== undefined && next.due <= target; next = this.next()) {
      this.current = Math.max(this.current, next.due);
      if (next.every === undefined) this.timers.delete(next);
      else next.due += next.every;
      next.run();
      await settle();
    }
    this.current = target;
    await settle();
  }

  private next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.timers) if (first === undefined || timer.due < first.due) first = timer;
    return first;
  }

  private schedule(timer: Timer): () => void {
    this.timers.add(timer);
    this.watchers = this.watchers.filter(({ count, resolve }) => {
      if (this.timers.size < count) return true;
      resolve();
      return false;
    });
    return () => {
      this.timers.delete(timer);
    };
  }
}

/** One turn of the event loop: every promise that is ready has run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
