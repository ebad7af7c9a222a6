import type { Clock } from '../clock/index.js';
import type { Transaction } from '../database/index.js';
import { newId } from '../ids/index.js';
import type { JobDefinition } from './job.js';
import type { OutboxRelay } from './outbox-relay.js';
import { insertJob } from './outbox.sql.js';

export interface EnqueueOptions {
  /** The job starts after this time, up to a few seconds later. */
  readonly delaySeconds?: number;
  /**
   * At most one job of a definition waits with the same key. A later one replaces the payload of the waiting one; the
   * earlier of their times holds. A job that has begun does not count, so an attempt always starts after this transaction
   * has committed and sees its changes.
   */
  readonly dedupeKey?: string;
}

/** Writes the jobs that the change of a use case causes. */
export class Outbox {
  /** @param relay absent in an operator's command, whose jobs a running service dispatches within seconds */
  constructor(
    private readonly clock: Clock,
    private readonly relay?: OutboxRelay,
  ) {}

  /**
   * Writes the job in the caller's transaction. The job runs if, and only if, the transaction commits, and then at least once,
   * even if this process or the queue dies. It is dispatched right after the commit.
   * @throws ZodError if the payload does not match the job's schema
   */
  async enqueue<Payload>(
    transaction: Transaction,
    job: JobDefinition<Payload>,
    payload: NoInfer<Payload>,
    { delaySeconds = 0, dedupeKey }: EnqueueOptions = {},
  ): Promise<void> {
    const createdAt = this.clock.now();
    await insertJob(transaction, {
      id: newId(),
      name: job.name,
      payload: job.payload.parse(payload),
      dedupeKey: dedupeKey ?? null,
      createdAt,
      dueAt: new Date(createdAt.getTime() + delaySeconds * 1_000),
    });
    transaction.onCommit(() => this.relay?.trigger());
  }
}
