import { setImmediate as nextTask } from 'node:timers/promises';

/**
 * For work of many origins in this thread, each of which may have any amount at any time: one step of all of it runs in each round
 * of the event loop, with all other tasks in between.
 */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** Await it before each step: resolves in the order of the calls. */
  next(): Promise<void> {
    this.last = this.last.then(() => nextTask());
    return this.last;
  }
}
