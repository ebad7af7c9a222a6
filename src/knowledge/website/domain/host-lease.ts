import { type Clock, Semaphore } from '../../../platform/clock/index.js';
import { CONNECTIONS_PER_HOST } from '../limits.js';

/** It is not the host's turn: what was to be asked of it is asked later. */
export class HostPaused extends Error {}

/** The right to send requests to one host, which one process has at a time: 4 of them together, and none in a pause that the host wants. */
export class HostLease {
  private readonly connections = new Semaphore(CONNECTIONS_PER_HOST);
  /** By the monotonic clock. */
  private pausedUntil: number;

  constructor(
    readonly host: string,
    /** Of this lease; what is done under it is marked by it. */
    readonly id: string,
    private readonly clock: Clock,
    pauseMs = 0,
  ) {
    this.pausedUntil = clock.monotonic() + pauseMs;
  }

  /** For how long the host is to be left alone. */
  get pauseMs(): number {
    return Math.max(this.pausedUntil - this.clock.monotonic(), 0);
  }

  /** The host wants a pause, by an answer or between any two requests. */
  holdBack(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.monotonic() + ms);
  }

  /** Runs `work`, which sends one request after the other, on the next free connection. */
  connected<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.connections.run(work);
  }
}
