import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import type { Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { crawlStep } from '../jobs/crawl.jobs.js';
import { WebsiteRepository } from '../persistence/website.repository.js';

/** Starts a crawl of an agent's websites. It replaces a crawl that is in progress. */
@Injectable()
export class StartCrawl {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly jobs: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates the website's row where there is none, and locks it until the transaction ends.
   * @param hasSites where false, the crawl only removes the pages of earlier ones
   */
  async execute(transaction: Transaction, organizationId: string, agentId: string, hasSites: boolean): Promise<void> {
    const crawlId = newId();
    const state = hasSites ? 'IN_PROGRESS' : 'SUSPENDED';
    await this.websites.save(transaction, { organizationId, agentId, crawlId }, state, this.clock.now());
    await this.jobs.enqueue(transaction, crawlStep, { organizationId, agentId, crawlId }, { dedupeKey: crawlId });
  }
}
