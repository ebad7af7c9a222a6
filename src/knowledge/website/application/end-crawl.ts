import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { crawlResult } from '../domain/crawl-result.js';
import { followsLinks } from '../domain/website-root.js';
import { EmbeddingQueue } from '../../index/application/indexing/embedding-queue.js';
import { CrawlPages } from '../persistence/crawl-pages.repository.js';
import { EndedCrawls } from '../persistence/ended-crawls.repository.js';
import type { CurrentCrawl } from '../persistence/website.repository.js';
import { MIN_RECRAWL_PAUSE_MS, RECRAWL_MS } from '../limits.js';
import { RemovePages } from './remove-pages.js';

/** Ends a crawl all of whose pages have an outcome: what it did not find leaves the index, and its state is told. */
@Injectable()
export class EndCrawl {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly ended: EndedCrawls,
    private readonly removePages: RemovePages,
    private readonly embeddings: EmbeddingQueue,
    private readonly clock: Clock,
  ) {}

  /** @throws CrawlSuperseded */
  async execute(crawl: CurrentCrawl, budget: number, signal: AbortSignal): Promise<void> {
    const sites = await this.ended.sites(this.database, crawl);
    const open = new Set(crawl.roots.filter(followsLinks).map(({ id }) => id));
    const keptRoots = sites.filter(({ id, away }) => away && open.has(id)).map(({ id }) => id);
    await this.removePages.afterCrawl(crawl, keptRoots, signal);
    await this.database.transaction(async (transaction) => {
      const locked = await this.pages.lock(transaction, crawl);
      const now = this.clock.now();
      const result = sites.length === 0 ? null : crawlResult(sites, locked.budgetReached ? budget : null);
      const nextCrawlAt = result && nextCrawlOf(crawl.agentId, now);
      // Also for slices that broke off before they could ask.
      await this.embeddings.chunksAdded(transaction, crawl.organizationId, crawl.agentId);
      await this.ended.end(transaction, crawl, result, now, nextCrawlAt);
    });
  }
}

/** At the same time each day, which follows from the agent's id: those of all agents are spread over the day. */
function nextCrawlOf(agentId: string, now: Date): Date {
  const share = createHash('sha256').update(agentId).digest().readUInt32BE(0) / 2 ** 32;
  const earliest = now.getTime() + MIN_RECRAWL_PAUSE_MS;
  const intoDay = Math.round(share * RECRAWL_MS);
  return new Date(earliest + ((((intoDay - earliest) % RECRAWL_MS) + RECRAWL_MS) % RECRAWL_MS));
}
