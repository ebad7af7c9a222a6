import { HostLease } from '../../src/knowledge/website/domain/host-lease.js';
import { HostLeases } from '../../src/knowledge/website/persistence/host-leases.repository.js';
import type { Clock } from '../../src/platform/clock/index.js';
import { newId } from '../../src/platform/ids/index.js';

/** Leases of hosts, all of which are free except the given ones. */
export class FreeLeases extends HostLeases {
  readonly taken: string[] = [];

  constructor(
    private readonly time: Clock,
    private readonly busy: readonly string[] = [],
  ) {
    super(undefined as never, time);
  }

  override take(origin: string): Promise<HostLease | null> {
    const { hostname, port } = new URL(origin);
    const host = `${hostname}:${port || '80'}`;
    this.taken.push(host);
    return Promise.resolve(this.busy.includes(host) ? null : leaseOf(this.time, host));
  }

  override release(): Promise<void> {
    return Promise.resolve();
  }
}

/** The lease of a host, without a row in the database. */
export function leaseOf(clock: Clock, host = 'a.example:80'): HostLease {
  return new HostLease(host, newId(), clock);
}
