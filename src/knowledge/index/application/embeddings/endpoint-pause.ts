import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { MAX_RETRY_AFTER_SECONDS } from '../../embedding-limits.js';

/** For how long the endpoint has asked to be left alone: by every job of this process, whichever it has told. */
@Injectable()
export class EndpointPause {
  private until = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: Clock) {}

  ask(seconds: number): void {
    const until = this.clock.monotonic() + Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000;
    this.until = Math.max(this.until, until);
  }

  /** Whole seconds; 0 when it may be asked. */
  get remainingSeconds(): number {
    return Math.max(0, Math.ceil((this.until - this.clock.monotonic()) / 1000));
  }
}
