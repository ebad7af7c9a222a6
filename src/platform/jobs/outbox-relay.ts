import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { endsWithin } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';
import { JobRegistry } from './job-registry.js';
import { type OutboxRow, OutboxStore } from './outbox-store.js';
import { QueueConnection } from './queue-connection.js';
import { CLOSE_GRACE_MS, RELAY_POLL_MS } from './limits.js';

/** Dispatches due rows of the outbox to their queues. Any number may work on one database. */
@Injectable()
export class OutboxRelay {
  private stopPolling: (() => void) | undefined;
  private pass: Promise<unknown> | undefined;
  private again = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly connection: QueueConnection,
    private readonly registry: JobRegistry,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopPolling = this.clock.every(RELAY_POLL_MS, () => {
      this.trigger();
    });
    this.connection.onReachable(() => {
      this.trigger();
    });
    this.trigger();
  }

  async stop(): Promise<void> {
    this.stopPolling?.();
    this.stopPolling = undefined;
    if (this.pass) await endsWithin(CLOSE_GRACE_MS, this.clock, this.pass);
  }

  /** There may be something to dispatch. Never waits and never fails; one pass runs at a time. */
  trigger(): void {
    if (!this.stopPolling) return;
    if (this.pass) {
      this.again = true;
      return;
    }
    this.pass = this.relayDue()
      // The next poll tries again; until then the rows wait where they are safe.
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'Jobs wait in the outbox');
      })
      .finally(() => {
        this.pass = undefined;
        if (!this.again) return;
        this.again = false;
        this.trigger();
      });
  }

  /**
   * Dispatches all that is due.
   * @returns how many rows the queues have accepted; 0 while they are out of reach
   */
  async relayDue(): Promise<number> {
    const names = this.registry.all().map(({ definition }) => definition.name);
    let accepted = 0;
    while (this.connection.isReachable()) {
      const rows = await this.store.claim(names);
      if (rows.length === 0) break;
      await this.add(rows);
      await this.store.dispatched(rows.map(({ id }) => id));
      accepted += rows.length;
    }
    return accepted;
  }

  /** Adds the rows' jobs; one that its queue has already, under the row's id, is left as it is. */
  async add(rows: readonly OutboxRow[]): Promise<void> {
    for (const { definition, queue } of this.registry.all()) {
      const jobs = rows.filter(({ name }) => name === definition.name);
      const [first, ...others] = jobs.map(({ id, name }) => ({ name, data: {}, opts: { jobId: id } }));
      if (!first) continue;
      // In bulk PostgreSQL makes two temporary tables, which takes several times as long as one job by itself.
      if (others.length === 0) await queue.add(first.name, first.data, first.opts);
      else await queue.addBulk([first, ...others]);
    }
  }
}
