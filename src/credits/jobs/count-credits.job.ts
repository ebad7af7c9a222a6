import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { CreditPeriodRepository } from '../persistence/credit-period.repository.js';
import { COUNT_BATCH, COUNT_EVERY_MINUTES } from '../limits.js';

/** Adds entries to the sums of their months, so that reading a month does not add up all its entries. */
export const countCredits = definePeriodicJob('credits.count', COUNT_EVERY_MINUTES);

@Processor(countCredits.name)
export class CountCredits extends WorkerHost {
  constructor(private readonly periods: CreditPeriodRepository) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    do signal.throwIfAborted();
    while ((await this.periods.countSome(COUNT_BATCH)) === COUNT_BATCH);
  }
}
