import { z } from 'zod';
import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { oldestKeptResults } from '../domain/approval.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { RunRepository } from '../persistence/run.repository.js';

/** Small, so that locks are short. */
const BATCH = 500;
const EVERY_MINUTES = 60;

const payload = z.object({});

/**
 * Removes expired idempotency keys, and the kept results of runs whose requests for approval have expired.
 */
export const purgeIdempotencyKeys = defineJob({
  name: 'conversations.purge-idempotency-keys',
  payload,
  schedule: { everyMinutes: EVERY_MINUTES, payload: {} },
});

@Processor(purgeIdempotencyKeys.name)
export class PurgeIdempotencyKeys extends WorkerHost {
  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly runs: RunRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob<z.output<typeof payload>>): Promise<void> {
    const now = this.clock.now();
    do signal.throwIfAborted();
    while ((await this.keys.purge(now, BATCH)) > 0);
    do signal.throwIfAborted();
    while ((await this.runs.removeOldKeptResults(oldestKeptResults(now))) > 0);
  }
}
