import { type Clock, Semaphore } from '../../../platform/clock/index.js';
import { CONNECTIONS_PER_HOST } from '../limits.js';

/** The host asks for a pause, so the request was not sent. */
export class HostPaused extends Error {}

/** The right to send requests to one host. One process has it at a time, for at most 4 concurrent requests, and none during a pause. */
export class HostLease {
  private readonly connections = new Semaphore(CONNECTIONS_PER_HOST);
  /** By the monotonic clock. */
  private pausedUntil: number;

  constructor(
    readonly host: string,
    /** Pages that are claimed under this lease carry it. */
    readonly id: string,
    private readonly clock: Clock,
    pauseMs = 0,
  ) {
    this.pausedUntil = clock.monotonic() + pauseMs;
  }

  get pauseMs(): number {
    return Math.max(this.pausedUntil - this.clock.monotonic(), 0);
  }

  /** For what a response asks for, and between any two requests under a crawl delay. */
  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.clock.monotonic() + ms);
  }

  /** Runs `work`, which sends its requests one after the other, when a connection is free. */
  withConnection<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.connections.run(work);
  }
}
