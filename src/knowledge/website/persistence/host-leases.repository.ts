import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type SqlExecutor } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { HostLease } from '../domain/host-lease.js';
import { HOST_IDLE_MS, HOST_LEASE_LOST_MS, HOST_LEASE_MS, HOST_LEASE_RENEWAL_MS, MAX_HOST_LENGTH } from '../limits.js';
import * as sql from './host-leases.sql.js';

/** Another process may have the host's lease. */
class HostLeaseLost extends Error {}

const leaseSeconds = HOST_LEASE_MS / 1_000;

/**
 * Leases of hosts, shared by all processes and organizations. A lease is a row and not a lock, so no transaction is open
 * while a process waits for the network; when a process dies, another has its host within a minute.
 */
@Injectable()
export class HostLeases {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @returns null where another process has the lease */
  async take(origin: string): Promise<HostLease | null> {
    const [host, holder] = [hostOf(origin), newId()];
    const [row] = await sql.LEASE.run<{ pauseMs: number }>(this.database, { host, holder, leaseSeconds });
    return row ? new HostLease(host, holder, this.clock, Math.ceil(row.pauseMs)) : null;
  }

  /** Milliseconds until the other process's lease ends, unless it is renewed. */
  async busyMs(origin: string): Promise<number> {
    const [row] = await sql.BUSY.run<{ busyMs: number }>(this.database, { host: hostOf(origin) });
    return Math.ceil(row?.busyMs ?? 0);
  }

  /** Renews the lease until the returned function is called. Calls `onLost` when another process may have the lease. */
  startRenewing({ host, id: holder }: HostLease, onLost: (reason: Error) => void): () => void {
    let renewedAt = this.clock.monotonic();
    return this.clock.every(HOST_LEASE_RENEWAL_MS, () => {
      const began = this.clock.monotonic();
      sql.RENEW.run(this.database, { host, holder, leaseSeconds }).then(
        (renewed) => {
          if (renewed.length > 0) renewedAt = began;
          else onLost(new HostLeaseLost());
        },
        () => {
          if (this.clock.monotonic() - renewedAt >= HOST_LEASE_LOST_MS - HOST_LEASE_RENEWAL_MS)
            onLost(new HostLeaseLost());
        },
      );
    });
  }

  /** Another process can take the lease at once. The host's pause stays in force. */
  async release({ host, id: holder, pauseMs }: HostLease, executor: SqlExecutor = this.database): Promise<void> {
    await sql.RELEASE.run(executor, { host, holder, pauseSeconds: pauseMs / 1_000 });
  }

  async deleteIdle(): Promise<void> {
    await sql.DELETE_IDLE.run(this.database, { idleSeconds: HOST_IDLE_MS / 1_000 });
  }
}

/** `example.com:443`. Cut to what an index can hold; names that long do not resolve. */
function hostOf(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`.slice(0, MAX_HOST_LENGTH);
}
