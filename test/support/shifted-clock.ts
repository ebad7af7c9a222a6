import { SystemClock } from '../../src/platform/clock/index.js';

/**
 * The wall's clock with its hands moved on. Timers keep their pace: a whole service can be days later in one
 * step, without living through them.
 */
export class ShiftedClock extends SystemClock {
  private shiftMs = 0;
  private jumpedMs = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.shiftMs + this.jumpedMs);
  }

  override monotonic(): number {
    return super.monotonic() + this.shiftMs;
  }

  moveOn(ms: number): void {
    this.shiftMs += ms;
  }

  /** Sets the wall clock forth, or with a negative number back; no time passes. */
  jump(ms: number): void {
    this.jumpedMs += ms;
  }
}
