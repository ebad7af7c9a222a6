import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { type ActiveJob, definePeriodicJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { StartCrawl } from '../application/start-crawl.js';
import { CHECK_BATCH, CHECK_EVERY_MINUTES, STALLED_MS } from '../limits.js';
import { HostLeases } from '../persistence/host-leases.repository.js';
import { WebsiteRepository } from '../persistence/website.repository.js';
import { crawlStep } from './crawl.jobs.js';

export const scheduleCrawls = definePeriodicJob('knowledge.keep-crawls', CHECK_EVERY_MINUTES);

/** Starts crawls that are due, resumes crawls that have lost their jobs, and deletes rows of hosts that are no longer crawled. */
@Processor(scheduleCrawls.name)
export class ScheduleCrawls extends WorkerHost {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly startCrawl: StartCrawl,
    private readonly hosts: HostLeases,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super();
  }

  process({ signal }: ActiveJob): Promise<void> {
    return this.execute(signal);
  }

  async execute(signal: AbortSignal): Promise<void> {
    await this.startDue(signal);
    await this.resumeStalled();
    await this.hosts.deleteIdle();
  }

  private async startDue(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    for (const { organizationId, agentId } of await this.websites.due(now, CHECK_BATCH)) {
      signal.throwIfAborted();
      await this.database.transaction(async (transaction) => {
        if (!(await this.websites.lockDue(transaction, organizationId, agentId, now))) return;
        await this.startCrawl.execute(transaction, organizationId, agentId, true);
      });
    }
  }

  private async resumeStalled(): Promise<void> {
    const now = this.clock.now();
    const before = new Date(now.getTime() - STALLED_MS);
    await this.database.transaction(async (transaction) => {
      for (const crawl of await this.websites.takeStalled(transaction, before, now, CHECK_BATCH)) {
        await this.outbox.enqueue(transaction, crawlStep, crawl, { dedupeKey: crawl.crawlId });
      }
    });
  }
}
