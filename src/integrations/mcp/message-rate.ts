import type { Clock } from '../../platform/clock/index.js';
import { MAX_BYTES_PER_SECOND, MAX_MESSAGES_PER_SECOND } from './mcp-limits.js';

/** Counts what a server sends within the current second. */
export class MessageRate {
  private second = -1;
  private messages = 0;
  private bytes = 0;

  constructor(
    private readonly clock: Clock,
    private readonly maxMessages = MAX_MESSAGES_PER_SECOND,
  ) {}

  /** Counts them, and returns whether a limit is exceeded. */
  exceededBy(messages: number, bytes: number): boolean {
    const second = Math.floor(this.clock.monotonic() / 1_000);
    if (second !== this.second) this.messages = this.bytes = 0;
    this.second = second;
    this.messages += messages;
    this.bytes += bytes;
    return this.messages > this.maxMessages || this.bytes > MAX_BYTES_PER_SECOND;
  }
}
