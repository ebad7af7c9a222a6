import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { endsWithin } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';
import { JobRegistry } from './job-registry.js';
import { type OutboxRow, OutboxStore } from './outbox.sql.js';
import { QueueConnection } from './queue-connection.js';
import { CLOSE_GRACE_MS, RELAY_POLL_MS } from './limits.js';

/** Dispatches due rows of the outbox to their queues. Any number of relays may work on one database. */
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
      void this.connection.check();
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

  /** Starts a pass, or another one after the current one. Neither waits nor fails. */
  trigger(): void {
    if (!this.stopPolling) return;
    if (this.pass) {
      this.again = true;
      return;
    }
    this.pass = this.relayDue()
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'Jobs could not be dispatched; they wait in the outbox for the next poll');
      })
      .finally(() => {
        this.pass = undefined;
        if (!this.again) return;
        this.again = false;
        this.trigger();
      });
  }

  /**
   * Dispatches all due rows.
   * @returns how many rows the queues have accepted; 0 while they are unreachable
   */
  async relayDue(): Promise<number> {
    const names = this.registry.all().map(({ definition }) => definition.name);
    let accepted = 0;
    while (this.connection.isReachable()) {
      const rows = await this.store.claim(names);
      if (rows.length === 0) break;
      await this.add(rows);
      await this.store.setDispatched(rows.map(({ id }) => id));
      accepted += rows.length;
    }
    return accepted;
  }

  /** Adds the rows' jobs under the ids of the rows; a queue ignores an id that it has. */
  async add(rows: readonly OutboxRow[]): Promise<void> {
    for (const { definition, queue } of this.registry.all()) {
      const jobs = rows.filter(({ name }) => name === definition.name);
      const [first, ...others] = jobs.map(({ id, name }) => ({ name, data: {}, opts: { jobId: id } }));
      if (!first) continue;
      // On PostgreSQL a bulk creates two temporary tables, which takes several times as long as adding one job.
      if (others.length === 0) await queue.add(first.name, first.data, first.opts);
      else await queue.addBulk([first, ...others]);
    }
  }
}
