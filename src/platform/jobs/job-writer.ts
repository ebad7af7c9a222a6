import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import type { Transaction } from '../database/index.js';
import { newId } from '../ids/index.js';
import type { JobDefinition } from './job.js';

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

/** Writes jobs in the caller's transaction. Within the service it is the `Outbox`; an operator's command has this alone. */
@Injectable()
export class JobWriter {
  constructor(protected readonly clock: Clock) {}

  /**
   * The job runs if, and only if, the transaction commits, and then at least once. A service that runs dispatches it within seconds.
   * @throws ZodError when the payload breaks the job's schema
   */
  async enqueue<Payload>(
    transaction: Transaction,
    job: JobDefinition<Payload>,
    payload: NoInfer<Payload>,
    { delaySeconds = 0, dedupeKey }: EnqueueOptions = {},
  ): Promise<void> {
    const now = this.clock.now();
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
}
