import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { crawlStep } from '../jobs/crawl-step.job.js';
import { CrawlSchedule } from '../persistence/crawl-schedule.repository.js';
import { CHECK_BATCH, STALLED_MS } from '../limits.js';
import { StartCrawl } from './start-crawl.js';

/** Has every website crawled again when its time has come, and no crawl stand still. */
@Injectable()
export class KeepCrawls {
  constructor(
    private readonly schedule: CrawlSchedule,
    private readonly startCrawl: StartCrawl,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  async execute(signal: AbortSignal): Promise<void> {
    await this.startDue(signal);
    await this.takeUpStanding(signal);
  }

  private async startDue(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    for (const agent of await this.schedule.due(now, CHECK_BATCH)) {
      signal.throwIfAborted();
      await this.database.transaction(async (transaction) => {
        if (!(await this.schedule.lockDue(transaction, agent, now))) return;
        await this.startCrawl.execute(transaction, agent.organizationId, agent.agentId, true);
      });
    }
  }

  private async takeUpStanding(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    const before = new Date(now.getTime() - STALLED_MS);
    for (const crawl of await this.schedule.standing(before, CHECK_BATCH)) {
      signal.throwIfAborted();
      await this.database.transaction(async (transaction) => {
        if (!(await this.schedule.takeUp(transaction, crawl, before, now))) return;
        await this.outbox.enqueue(transaction, crawlStep, crawl, { dedupeKey: crawl.crawlId });
      });
    }
  }
}
