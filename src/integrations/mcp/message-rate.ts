import type { Clock } from '../../platform/clock/index.js';

export interface RateLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** What comes within the current second. */
export class MessageRate {
  private second = -1;
  private messages = 0;
  private bytes = 0;

  constructor(
    private readonly clock: Clock,
    /** Within a second. */
    private readonly limits: RateLimits,
  ) {}

  /** Counts them, whatever comes of it. */
  exceededBy(messages: number, bytes: number): boolean {
    const second = Math.floor(this.clock.monotonic() / 1_000);
    if (second !== this.second) this.messages = this.bytes = 0;
    this.second = second;
    this.messages += messages;
    this.bytes += bytes;
    return this.messages > this.limits.messages || this.bytes > this.limits.bytes;
  }
}
