import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../platform/clock/index.js';
import { defineJob, type JobContext, JobHandler } from '../../platform/jobs/index.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';

/** Small enough that no lock is held for long. */
const BATCH = 500;
const EVERY_MINUTES = 60;

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Forgets requests whose repeats are no longer recognized. */
export const purgeIdempotencyKeys = defineJob({
  name: 'conversations.purge-idempotency-keys',
  payload,
  schedule: { everyMinutes: EVERY_MINUTES, payload: {} },
});

@Injectable()
export class PurgeIdempotencyKeys extends JobHandler<Payload> {
  readonly job = purgeIdempotencyKeys;

  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async run(_payload: Payload, { signal }: JobContext): Promise<void> {
    const now = this.clock.now();
    do signal.throwIfAborted();
    while ((await this.keys.purge(now, BATCH)) > 0);
  }
}
