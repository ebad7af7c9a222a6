import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { TransactionEvents } from '../../platform/events/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { CreditPeriodRepository } from '../persistence/credit-period.repository.js';
import { PeriodExhausted } from '../domain/credits.events.js';
import { monthOf, periodId } from '../domain/period.js';
import { COUNT_BATCH, COUNT_EVERY_MINUTES, COUNTED_AFTER_MS } from '../limits.js';

/**
 * Adds entries to the sums of their months, so that reading a month does not add up all its entries; and tells, once a month, that an
 * organization has used up its included credits: the statement that ends a run cannot know without adding up the month.
 */
export const countCredits = definePeriodicJob('credits.count', COUNT_EVERY_MINUTES);

@Processor(countCredits.name)
export class CountCredits extends WorkerHost {
  constructor(
    private readonly periods: CreditPeriodRepository,
    private readonly database: Database,
    private readonly events: TransactionEvents,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    do signal.throwIfAborted();
    while ((await this.periods.countSome(COUNT_BATCH)) === COUNT_BATCH);
    await this.tellExhausted();
  }

  private async tellExhausted(): Promise<void> {
    const now = this.clock.now();
    const since = monthOf(new Date(now.getTime() - COUNTED_AFTER_MS));
    await this.database.transaction(async (transaction) => {
      for (const { organizationId, month } of await this.periods.markExhausted(transaction, since, now)) {
        const event = new PeriodExhausted(organizationId, periodId(organizationId, month), now);
        await this.events.publish(transaction, event);
      }
    });
  }
}
