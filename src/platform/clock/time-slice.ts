import { setImmediate as nextTask } from 'node:timers/promises';

/** For long work in this thread, which has to leave it to others again and again. Real time, whatever the clock says. */
export class TimeSlice {
  private since = performance.now();

  constructor(private readonly ms: number) {}

  /** To be awaited between two steps: resolves at once within the slice, and else when everything that waits had its turn. */
  async rest(): Promise<void> {
    if (performance.now() - this.since < this.ms) return;
    await nextTask();
    this.since = performance.now();
  }
}
