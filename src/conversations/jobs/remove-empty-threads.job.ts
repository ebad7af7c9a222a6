import { z } from 'zod';
import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { ThreadLookup } from '../application/thread-lookup.js';
import { ThreadRemovalRepository } from '../persistence/thread-removal.repository.js';

/** A visitor has so long to send the first message; after that the thread does not exist any more. */
const KEPT_DAYS = 7;
const EVERY_MINUTES = 60;
/** Small, so that locks are short. */
const BATCH = 500;
const DAY_MS = 86_400_000;

const payload = z.object({});

/** Removes threads that were opened for a widget and have no message. */
export const removeEmptyThreads = defineJob({
  name: 'conversations.remove-empty-threads',
  payload,
  schedule: { everyMinutes: EVERY_MINUTES, payload: {} },
});

@Processor(removeEmptyThreads.name)
export class RemoveEmptyThreads extends WorkerHost {
  constructor(
    private readonly removal: ThreadRemovalRepository,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob<z.output<typeof payload>>): Promise<void> {
    const before = new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    let removed;
    do {
      signal.throwIfAborted();
      removed = await this.removal.removeEmptyWidgetThreads(before, BATCH);
      for (const { organizationId, id } of removed) this.lookup.forget(organizationId, id);
    } while (removed.length === BATCH);
  }
}
