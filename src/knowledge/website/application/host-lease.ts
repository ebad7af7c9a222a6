import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import type { Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { hostOf } from '../domain/host.js';
import { CONNECTIONS_PER_HOST, HOST_LEASE_LOST_MS, HOST_LEASE_RENEWAL_MS, MAX_HOST_LENGTH } from '../limits.js';
import { CrawlHosts } from '../persistence/crawl-hosts.repository.js';

/** It is not the host's turn: what was to be asked of it is asked later. */
export class HostPaused extends Error {}
/** Another process may ask the host by now. */
class HostLeaseLost extends Error {}

/** The right to send requests to one host, which one process has at a time: 4 of them together, and none in a pause that the host wants. */
export class HostLease {
  private underWay = 0;
  private readonly waiting: (() => void)[] = [];
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
  async connected<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.underWay >= CONNECTIONS_PER_HOST) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.underWay += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.underWay -= 1;
    }
  }
}

/**
 * Leases of hosts as rows of the database: nothing is held open while the network is waited for, and the host of a
 * process that died is another's within a minute.
 */
@Injectable()
export class HostLeases {
  constructor(
    private readonly hosts: CrawlHosts,
    private readonly clock: Clock,
  ) {}

  /** @returns null where another process has the host */
  async take(origin: string): Promise<HostLease | null> {
    const host = keyOf(origin);
    const id = newId();
    const pauseMs = await this.hosts.lease(host, id);
    return pauseMs === null ? null : new HostLease(host, id, this.clock, pauseMs);
  }

  /** For how long the other process may have the host, unless it renews its lease. */
  busyMs(origin: string): Promise<number> {
    return this.hosts.busyMs(keyOf(origin));
  }

  /** Renews the lease until the returned function is called; `onLost` is called where that fails. */
  keep({ host, id }: HostLease, onLost: (reason: Error) => void): () => void {
    let renewedAt = this.clock.monotonic();
    return this.clock.every(HOST_LEASE_RENEWAL_MS, () => {
      const began = this.clock.monotonic();
      this.hosts.renew(host, id).then(
        (isHeld) => {
          if (isHeld) renewedAt = began;
          else onLost(new HostLeaseLost());
        },
        () => {
          if (this.clock.monotonic() - renewedAt >= HOST_LEASE_LOST_MS - HOST_LEASE_RENEWAL_MS) onLost(new HostLeaseLost());
        },
      );
    });
  }

  /** Others may have the host at once, after the pause that it wants. */
  release({ host, id, pauseMs }: HostLease, transaction?: Transaction): Promise<void> {
    return this.hosts.release(host, id, pauseMs, transaction);
  }
}

/** Of a name that resolves; an index takes no longer one. */
function keyOf(origin: string): string {
  return hostOf(new URL(origin)).slice(0, MAX_HOST_LENGTH);
}
