import { OrganizationDirectory, retainedSince } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { ThreadLookup } from '../application/thread-lookup.js';
import { ThreadRemoval, THREADS_AT_ONCE } from '../application/thread-removal.js';
import { RetentionRepository } from '../persistence/retention.repository.js';
import type { ThreadPosition } from '../persistence/thread.repository.js';

const EVERY_MINUTES = 60;
/** Small, so that locks are short. */
const MESSAGES_AT_ONCE = 500;

/**
 * Removes conversations, and exchanges in conversations that go on, of organizations that keep them for a limited time. The next
 * run of the job continues an interrupted one.
 */
export const applyRetention = definePeriodicJob('conversations.apply-retention', EVERY_MINUTES);

@Processor(applyRetention.name)
export class ApplyRetention extends WorkerHost {
  constructor(
    private readonly organizations: OrganizationDirectory,
    private readonly retention: RetentionRepository,
    private readonly removal: ThreadRemoval,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const now = this.clock.now();
    for (const retention of await this.organizations.retentions()) {
      const before = retainedSince(retention, now);
      await this.removeThreads(retention.organizationId, before, signal);
      await this.removeExchanges(retention.organizationId, before, signal);
    }
  }

  /** Each batch is removed before the next is marked, so that marked threads are few. */
  private removeThreads(organizationId: string, before: Date, signal: AbortSignal): Promise<void> {
    return this.removal.removeAll(async () => {
      signal.throwIfAborted();
      const ids = await this.retention.markOldThreads(organizationId, before, this.clock.now(), THREADS_AT_ONCE);
      for (const id of ids) this.lookup.forget(organizationId, id);
      return ids;
    }, signal);
  }

  private async removeExchanges(organizationId: string, before: Date, signal: AbortSignal): Promise<void> {
    let after: ThreadPosition | undefined;
    do {
      const page = await this.retention.threadsWithOldMessages(organizationId, before, after, THREADS_AT_ONCE);
      for (const { id } of page) {
        do signal.throwIfAborted();
        while ((await this.retention.removeOldExchanges(organizationId, id, before, MESSAGES_AT_ONCE)) > 0);
      }
      after = page.at(-1);
    } while (after);
  }
}
