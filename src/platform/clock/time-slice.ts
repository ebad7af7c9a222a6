import { setImmediate as nextTask } from 'node:timers/promises';

/** For long work in this thread, which must let other tasks run in between. Uses real time instead of the injected clock. */
export class TimeSlice {
  private since = performance.now();

  constructor(private readonly ms: number) {}

  /** Await it between two steps: resolves at once within the slice, otherwise after the waiting tasks have run. */
  async rest(): Promise<void> {
    if (performance.now() - this.since < this.ms) return;
    await nextTask();
    this.since = performance.now();
  }
}
