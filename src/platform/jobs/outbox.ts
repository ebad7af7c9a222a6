import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import type { Transaction } from '../database/index.js';
import type { JobDefinition } from './job.js';
import { type EnqueueOptions, JobWriter } from './job-writer.js';
import { OutboxRelay } from './outbox-relay.js';

/** Where a use case writes the jobs that its change must cause. */
@Injectable()
export class Outbox extends JobWriter {
  constructor(
    private readonly relay: OutboxRelay,
    clock: Clock,
  ) {
    super(clock);
  }

  /**
   * Writes the job in the caller's transaction: it runs if, and only if, that commits, and then at least once, also
   * when this process or the queue dies. It is dispatched to its queue as soon as the transaction has committed.
   * @throws ZodError when the payload breaks the job's schema
   */
  override async enqueue<Payload>(
    transaction: Transaction,
    job: JobDefinition<Payload>,
    payload: NoInfer<Payload>,
    options: EnqueueOptions = {},
  ): Promise<void> {
    await super.enqueue(transaction, job, payload, options);
    transaction.onCommit(() => this.relay.trigger());
  }
}
