import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import type { Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { JobWriter } from '../../../platform/jobs/index.js';
import { crawlStep } from '../jobs/crawl.jobs.js';
import { WebsiteRepository } from '../persistence/website.repository.js';

/** Begins a crawl of an agent's websites, in place of the one under way. */
@Injectable()
export class StartCrawl {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly jobs: JobWriter,
    private readonly clock: Clock,
  ) {}

  /**
   * Locks the website's row, which it makes where there is none.
   * @param hasSites without any the crawl only removes what earlier ones have left
   */
  async execute(transaction: Transaction, organizationId: string, agentId: string, hasSites: boolean): Promise<void> {
    const crawlId = newId();
    const state = hasSites ? 'IN_PROGRESS' : 'SUSPENDED';
    await this.websites.save(transaction, { organizationId, agentId, crawlId }, state, this.clock.now());
    await this.jobs.enqueue(transaction, crawlStep, { organizationId, agentId, crawlId }, { dedupeKey: crawlId });
  }
}
