import { SystemClock } from '../../src/platform/clock/index.js';

/**
 * The wall's clock with its hands moved on. Timers keep their pace: a whole service can be days later in one
 * step, without living through them.
 */
export class ShiftedClock extends SystemClock {
  private shiftMs = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.shiftMs);
  }

  moveOn(ms: number): void {
    this.shiftMs += ms;
  }
}
