import { setTimeout as realTime } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { OpenRequests } from './open-requests.js';

/** For each millisecond of work so many are left to requests. */
const REST_RATIO = 3;
/** Work that mostly waited must not make the next one wait for minutes. */
const MAX_REST_MS = 100;

/**
 * Lets background work that computes much, in this thread or in the embedded database, give way to requests: while any is
 * open, one piece of work goes on at a time in the process, and a pause follows it. A process that answers nobody, such as a
 * worker, is never slowed.
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

  /** Real time, whatever the clock says: it is this machine that is left to others. */
  private async rest(workedMs: number): Promise<void> {
    if (!this.isIdle) await realTime(Math.min(REST_RATIO * workedMs, MAX_REST_MS), undefined, { ref: false });
  }
}
