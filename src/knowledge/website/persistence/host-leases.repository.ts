import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type SqlExecutor } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { HostLease } from '../domain/host-lease.js';
import {
  HOST_FORGOTTEN_MS,
  HOST_LEASE_LOST_MS,
  HOST_LEASE_MS,
  HOST_LEASE_RENEWAL_MS,
  MAX_HOST_LENGTH,
} from '../limits.js';
import * as sql from './host-leases.sql.js';

/** Another process may ask the host by now. */
class HostLeaseLost extends Error {}

const leaseSeconds = HOST_LEASE_MS / 1_000;

/**
 * Leases of hosts, of all processes and organizations: nothing is held open while the network is waited for, and the host of a
 * process that died is another's within a minute. Durations are counted by the database's clock.
 */
@Injectable()
export class HostLeases {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @returns null where another process has the host */
  async take(origin: string): Promise<HostLease | null> {
    const [host, holder] = [hostOf(origin), newId()];
    const [row] = await sql.LEASE.run<{ pauseMs: number }>(this.database, { host, holder, leaseSeconds });
    return row ? new HostLease(host, holder, this.clock, Math.ceil(row.pauseMs)) : null;
  }

  /** For how long the other process may have the host, unless it renews its lease. */
  async busyMs(origin: string): Promise<number> {
    const [row] = await sql.BUSY.run<{ busyMs: number }>(this.database, { host: hostOf(origin) });
    return Math.ceil(row?.busyMs ?? 0);
  }

  /** Renews the lease until the returned function is called; `onLost` is called where that fails. */
  keep({ host, id: holder }: HostLease, onLost: (reason: Error) => void): () => void {
    let renewedAt = this.clock.monotonic();
    return this.clock.every(HOST_LEASE_RENEWAL_MS, () => {
      const began = this.clock.monotonic();
      sql.RENEW.run(this.database, { host, holder, leaseSeconds }).then(
        (held) => {
          if (held.length > 0) renewedAt = began;
          else onLost(new HostLeaseLost());
        },
        () => {
          if (this.clock.monotonic() - renewedAt >= HOST_LEASE_LOST_MS - HOST_LEASE_RENEWAL_MS)
            onLost(new HostLeaseLost());
        },
      );
    });
  }

  /** Others may have the host at once, after the pause that it wants. */
  async release({ host, id: holder, pauseMs }: HostLease, executor: SqlExecutor = this.database): Promise<void> {
    await sql.RELEASE.run(executor, { host, holder, pauseSeconds: pauseMs / 1_000 });
  }

  /** Removes hosts that were not asked for long. */
  async forget(): Promise<void> {
    await sql.FORGET.run(this.database, { idleSeconds: HOST_FORGOTTEN_MS / 1_000 });
  }
}

/** `example.com:443`, of a name that resolves; an index takes no longer one. */
function hostOf(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`.slice(0, MAX_HOST_LENGTH);
}
