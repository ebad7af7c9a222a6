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

/**
 * The same, whose hands stand still: nothing that a process keeps for some seconds grows old while a test counts what
 * it asks for, however long that takes. Timers keep their pace.
 */
export class StoppedClock extends SystemClock {
  private readonly stoppedAt = { now: super.now().getTime(), monotonic: super.monotonic() };
  private shiftMs = 0;

  override now(): Date {
    return new Date(this.stoppedAt.now + this.shiftMs);
  }

  override monotonic(): number {
    return this.stoppedAt.monotonic + this.shiftMs;
  }

  moveOn(ms: number): void {
    this.shiftMs += ms;
  }
}
