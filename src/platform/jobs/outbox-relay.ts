import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Logger } from '../telemetry/index.js';
import { JobQueue } from './job-queue.js';
import { JobRegistry } from './job-registry.js';
import { OutboxStore } from './outbox-store.js';
import { HAND_OVER_TIMEOUT_MS, RELAY_POLL_MS } from './limits.js';

/** Hands due rows of the outbox to the queue. Any number may work on one database. */
@Injectable()
export class OutboxRelay {
  private stopPolling: (() => void) | undefined;
  private pass: Promise<void> | undefined;
  private again = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly queue: JobQueue,
    private readonly registry: JobRegistry,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopPolling = this.clock.every(RELAY_POLL_MS, () => { this.trigger(); });
    this.queue.onReachable(() => { this.trigger(); });
    this.trigger();
  }

  async stop(): Promise<void> {
    this.stopPolling?.();
    this.stopPolling = undefined;
    await this.pass;
  }

  /** There may be something to hand over. Never waits and never fails; one pass runs at a time. */
  trigger(): void {
    if (!this.stopPolling) return;
    if (this.pass) {
      this.again = true;
      return;
    }
    this.pass = this.relayDue()
      .then(
        () => undefined,
        // The next poll tries again; until then the rows wait where they are safe.
        (error: unknown) => { this.logger.warn({ err: error }, 'Jobs wait in the outbox'); },
      )
      .finally(() => {
        this.pass = undefined;
        if (!this.again) return;
        this.again = false;
        this.trigger();
      });
  }

  /**
   * Hands over all that is due.
   * @returns how many rows the queue has accepted; 0 while it is out of reach
   */
  async relayDue(): Promise<number> {
    const names = this.registry.all().map(({ name }) => name);
    let accepted = 0;
    while (this.queue.isReachable()) {
      const rows = await this.store.claim(names);
      if (rows.length === 0) break;
      await this.within(HAND_OVER_TIMEOUT_MS, this.queue.add(rows));
      await this.store.handedOver(rows.map(({ id }) => id));
      accepted += rows.length;
    }
    return accepted;
  }

  /** A batch that is accepted after all does no harm: its rows come again under the same ids. */
  private async within(ms: number, work: Promise<void>): Promise<void> {
    let cancel: (() => void) | undefined;
    const timeout = new Promise<never>((_, reject) => {
      cancel = this.clock.after(ms, () => { reject(new Error('the queue does not answer')); });
    });
    try {
      await Promise.race([work, timeout]);
    } finally {
      cancel?.();
    }
  }
}
