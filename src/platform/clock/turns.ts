import { setImmediate as nextTask } from 'node:timers/promises';

/**
 * For work of many origins in this thread, each of which may have any amount of it at any time: one step of them all is
 * done between two looks at everything else that waits.
 */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** To be awaited before each step: resolves in the order in which it was asked. */
  next(): Promise<void> {
    this.last = this.last.then(() => nextTask());
    return this.last;
  }
}
