import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import type { Transaction } from '../database/index.js';
import type { JobDefinition } from './job.js';
import { type EnqueueOptions, JobWriter } from './job-writer.js';
import { OutboxRelay } from './outbox-relay.js';

/** Writes the jobs that the change of a use case causes. */
@Injectable()
export class Outbox extends JobWriter {
  constructor(
    private readonly relay: OutboxRelay,
    clock: Clock,
  ) {
    super(clock);
  }

  /**
   * Writes the job in the caller's transaction. The job runs if, and only if, the transaction commits, and then at least once,
   * even if this process or the queue dies. It is dispatched right after the commit.
   * @throws ZodError if the payload does not match the job's schema
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
