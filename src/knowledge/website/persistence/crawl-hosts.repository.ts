import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor } from '../../../platform/database/index.js';
import { HOST_FORGOTTEN_MS, HOST_LEASE_MS } from '../limits.js';
import * as sql from './crawl-hosts.sql.js';

/** Leases of hosts, of all processes and organizations. Durations are counted by the database's clock. */
@Injectable()
export class CrawlHosts {
  constructor(private readonly database: Database) {}

  /** @returns for how long the host is to be left alone, in ms; null where another has its lease */
  async lease(host: string, holder: string): Promise<number | null> {
    const [row] = await sql.LEASE.run<{ pauseMs: number }>(this.database, { host, holder, leaseSeconds: HOST_LEASE_MS / 1_000 });
    return row ? Math.ceil(row.pauseMs) : null;
  }

  /** For how long the present lease lasts, in ms. */
  async busyMs(host: string): Promise<number> {
    const [row] = await sql.BUSY.run<{ busyMs: number }>(this.database, { host });
    return Math.ceil(row?.busyMs ?? 0);
  }

  /** @returns false where the lease is another's by now */
  async renew(host: string, holder: string): Promise<boolean> {
    return (await sql.RENEW.run(this.database, { host, holder, leaseSeconds: HOST_LEASE_MS / 1_000 })).length > 0;
  }

  /** @param pauseMs for which nobody may ask the host */
  async release(host: string, holder: string, pauseMs: number, executor: SqlExecutor = this.database): Promise<void> {
    await sql.RELEASE.run(executor, { host, holder, pauseSeconds: pauseMs / 1_000 });
  }

  /** Removes hosts that nobody has asked for long. */
  async forget(): Promise<void> {
    await sql.FORGET.run(this.database, { idleSeconds: HOST_FORGOTTEN_MS / 1_000 });
  }
}
