import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import type { Transaction } from '../database/index.js';
import { newId } from '../ids/index.js';
import type { JobDefinition } from './job.js';
import { OutboxRelay } from './outbox-relay.js';

export interface EnqueueOptions {
  /** The job runs no sooner, and up to a few seconds later. */
  readonly delaySeconds?: number;
  /**
   * Of jobs of one definition with one key, at most one is waiting. A later one takes the waiting one's place: its
   * payload replaces the other, the earlier of their times holds. A job that has begun no longer counts, so what
   * this transaction changes is always seen by a run that begins after its commit.
   */
  readonly dedupeKey?: string;
}

/** Where a use case writes the jobs that its change must cause. */
@Injectable()
export class Outbox {
  constructor(
    private readonly relay: OutboxRelay,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes the job in the caller's transaction: it runs if, and only if, that commits, and then at least once, also
   * when this process or the queue dies. It is dispatched to its queue as soon as the transaction has committed.
   * @throws ZodError when the payload breaks the job's schema
   */
  async enqueue<Payload>(
    transaction: Transaction,
    job: JobDefinition<Payload>,
    payload: NoInfer<Payload>,
    options: EnqueueOptions = {},
  ): Promise<void> {
    await writeJob(transaction, this.clock, job, payload, options);
    transaction.onCommit(() => this.relay.trigger());
  }
}

/**
 * As `Outbox.enqueue`, for operator commands, which have no relay: a running service dispatches the job within seconds.
 * @throws ZodError when the payload breaks the job's schema
 */
export async function writeJob<Payload>(
  transaction: Transaction,
  clock: Clock,
  job: JobDefinition<Payload>,
  payload: NoInfer<Payload>,
  { delaySeconds = 0, dedupeKey }: EnqueueOptions = {},
): Promise<void> {
  const now = clock.now();
  // A key that is waiting is updated rather than skipped: the lock on its row keeps a worker from beginning it
  // before this transaction has committed, with the state of before.
  await transaction.query(
    `insert into outbox (id, name, payload, dedupe_key, created_at, available_at, due_at)
     values ($1::uuid, $2, $3::text::jsonb, $4, $5::timestamptz, $6::timestamptz, $6::timestamptz)
     on conflict (name, dedupe_key) where dedupe_key is not null and started_at is null
     do update set payload = excluded.payload, available_at = least(outbox.available_at, excluded.available_at),
       due_at = least(outbox.due_at, excluded.due_at)`,
    [
      newId(),
      job.name,
      JSON.stringify(job.payload.parse(payload)),
      dedupeKey ?? null,
      now.toISOString(),
      new Date(now.getTime() + delaySeconds * 1000).toISOString(),
    ],
  );
}
