import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { ENTRIES_KEPT_MONTHS, PURGE_BATCH, PURGE_EVERY_MINUTES } from '../limits.js';
import { CreditEntryRepository } from '../persistence/credit-entry.repository.js';
import { monthOf, monthsBefore } from '../domain/period.js';

/** Deletes entries that are in the sums of months long past. */
export const purgeEntries = definePeriodicJob('credits.purge', PURGE_EVERY_MINUTES);

@Processor(purgeEntries.name)
export class PurgeEntries extends WorkerHost {
  constructor(
    private readonly entries: CreditEntryRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    // Whole months, so that the entries of a listed month add up to its sum.
    const before = monthsBefore(monthOf(this.clock.now()), ENTRIES_KEPT_MONTHS);
    do signal.throwIfAborted();
    while ((await this.entries.purgeSome(before, PURGE_BATCH)) > 0);
  }
}
