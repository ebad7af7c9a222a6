import { setTimeout as realTime } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { OpenRequests } from './open-requests.js';

/** Milliseconds of pause after each millisecond of work. */
const REST_RATIO = 3;
/** Bounds the pause after work that mostly waited. */
const MAX_REST_MS = 100;

/**
 * Slows down background work that uses much processor time, in this thread or in the embedded database, while requests are open:
 * the process then runs one piece of work at a time, with a pause after each. A process without requests, such as a worker, is
 * never slowed down.
 */
@Injectable()
export class BackgroundPace {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly requests: OpenRequests) {}

  /** No client waits for a response. */
  get isIdle(): boolean {
    return this.requests.count === 0;
  }

  /** @param work takes milliseconds rather than seconds */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isIdle) return work();
    let begun = 0;
    const result = this.last.then(() => {
      begun = performance.now();
      return work();
    });
    const rest = (): Promise<void> => this.rest(performance.now() - begun);
    this.last = result.then(rest, rest);
    return result;
  }

  /** Real time instead of the injected clock, because the pause frees the processor. */
  private async rest(workedMs: number): Promise<void> {
    if (!this.isIdle) await realTime(Math.min(REST_RATIO * workedMs, MAX_REST_MS), undefined, { ref: false });
  }
}
