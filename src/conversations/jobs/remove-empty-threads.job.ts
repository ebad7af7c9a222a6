import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { ThreadLookup } from '../application/thread-lookup.js';
import { ThreadRemovalRepository } from '../persistence/thread-removal.repository.js';

/** A visitor has so long to send the first message; after that the thread does not exist any more. */
const KEPT_DAYS = 7;
const EVERY_MINUTES = 60;
/** Small, so that locks are short. */
const BATCH = 500;
const DAY_MS = 86_400_000;

/** Removes threads that were opened for a widget and have no message. */
export const removeEmptyThreads = definePeriodicJob('conversations.remove-empty-threads', EVERY_MINUTES);

@Processor(removeEmptyThreads.name)
export class RemoveEmptyThreads extends WorkerHost {
  constructor(
    private readonly removal: ThreadRemovalRepository,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const before = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    let removed;
    do {
      signal.throwIfAborted();
      removed = await this.removal.removeEmptyWidgetThreads(before, BATCH);
      for (const { organizationId, id } of removed) this.lookup.forget(organizationId, id);
    } while (removed.length === BATCH);
  }
}
