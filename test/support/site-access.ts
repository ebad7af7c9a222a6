import { HostLease, HostLeases } from '../../src/knowledge/website/application/host-lease.js';
import { CrawlHosts } from '../../src/knowledge/website/persistence/crawl-hosts.repository.js';
import type { Clock } from '../../src/platform/clock/index.js';
import { newId } from '../../src/platform/ids/index.js';

/** Hosts that no other process asks. */
class FreeHosts extends CrawlHosts {
  readonly asked: string[] = [];

  constructor(private readonly busy: readonly string[]) {
    super(undefined as never);
  }

  override lease(host: string): Promise<number | null> {
    this.asked.push(host);
    return Promise.resolve(this.busy.includes(host) ? null : 0);
  }

  override release(): Promise<void> {
    return Promise.resolve();
  }
}

/** Leases of hosts, all of which are free but some. */
export class FreeLeases extends HostLeases {
  readonly asked: readonly string[];

  constructor(clock: Clock, busy: readonly string[] = []) {
    const hosts = new FreeHosts(busy);
    super(hosts, clock);
    this.asked = hosts.asked;
  }
}

/** The lease of a host, without a row of its own. */
export function leaseOf(clock: Clock, host = 'a.example:80'): HostLease {
  return new HostLease(host, newId(), clock);
}
