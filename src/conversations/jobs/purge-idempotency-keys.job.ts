import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { oldestKeptResults } from '../domain/approval.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { RunRepository } from '../persistence/run.repository.js';

/** Small, so that locks are short. */
const BATCH = 500;
const EVERY_MINUTES = 60;

/**
 * Removes expired idempotency keys, and the kept results of runs whose requests for approval have expired.
 */
export const purgeIdempotencyKeys = definePeriodicJob('conversations.purge-idempotency-keys', EVERY_MINUTES);

@Processor(purgeIdempotencyKeys.name)
export class PurgeIdempotencyKeys extends WorkerHost {
  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly runs: RunRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const now = this.clock.now();
    do signal.throwIfAborted();
    while ((await this.keys.purge(now, BATCH)) > 0);
    do signal.throwIfAborted();
    while ((await this.runs.removeOldKeptResults(oldestKeptResults(now))) > 0);
  }
}
