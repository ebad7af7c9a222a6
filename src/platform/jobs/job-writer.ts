import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import type { Transaction } from '../database/index.js';
import { newId } from '../ids/index.js';
import type { JobDefinition } from './job.js';
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

/** Writes jobs in the caller's transaction. The service injects `Outbox`; an operator's command uses this class. */
@Injectable()
export class JobWriter {
  constructor(protected readonly clock: Clock) {}

  /**
   * The job runs if, and only if, the transaction commits, and then at least once. A running service dispatches it within seconds.
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
  }
}
