import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { EmbeddingQueue } from '../../index/application/indexing/embedding-queue.js';
import { crawlResult } from '../domain/crawl-result.js';
import { CrawlScope } from '../domain/crawl-scope.js';
import { followsLinks } from '../domain/website-root.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import { crawlHost } from '../jobs/crawl.jobs.js';
import { MAX_URL_CHARACTERS, MIN_RECRAWL_PAUSE_MS, RECRAWL_MS } from '../limits.js';
import { CrawlPages, type FoundPage, type LockedCrawl } from '../persistence/crawl-pages.repository.js';
import { EndedCrawls } from '../persistence/ended-crawls.repository.js';
import { type CrawlKey, type CurrentCrawl, WebsiteRepository } from '../persistence/website.repository.js';
import { RemovePages } from './remove-pages.js';

/** Begins a crawl, and ends it once all of its pages have an outcome; what is between is handed to the workers of its hosts. */
@Injectable()
export class CrawlStep {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly pages: CrawlPages,
    private readonly ended: EndedCrawls,
    private readonly organizations: OrganizationDirectory,
    private readonly removePages: RemovePages,
    private readonly embeddings: EmbeddingQueue,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Does nothing for a crawl that is not the current one any more. */
  async execute(key: CrawlKey, signal: AbortSignal): Promise<void> {
    const crawl = await this.websites.currentCrawl(key);
    if (!crawl) return;
    const budget = crawl.budget ?? (await this.organizations.find(crawl.organizationId))?.crawlPages ?? 0;
    const scope = new CrawlScope(crawl.roots, MAX_URL_CHARACTERS);
    try {
      if (crawl.budget === null) await this.removePages.ofRemovedSites(crawl, signal);
      if (await this.handOut(crawl, (transaction) => this.begin(transaction, crawl, scope, budget))) return;
      if (await this.handOut(crawl, (transaction) => this.pages.settleCopies(transaction, crawl))) return;
      if (await this.handOut(crawl, (transaction, locked) => this.addKnown(transaction, locked, crawl, scope, budget)))
        return;
      await this.end(crawl, budget, signal);
    } catch (error) {
      if (!(error instanceof CrawlSuperseded)) throw error;
    }
  }

  /** @returns whether there is something left to do, which the workers of the hosts then do */
  private handOut(
    crawl: CrawlKey,
    add: (transaction: Transaction, locked: LockedCrawl) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      await add(transaction, await this.pages.lock(transaction, crawl));
      const origins = await this.ended.unfinishedOrigins(transaction, crawl);
      for (const origin of origins)
        await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin });
      return origins.length > 0;
    });
  }

  /** All sites' first pages come before any sitemap: none of them is left out because of a large one. */
  private async begin(transaction: Transaction, crawl: CurrentCrawl, scope: CrawlScope, budget: number): Promise<void> {
    const open = new Set(scope.openOrigins);
    await this.websites.begin(
      transaction,
      crawl,
      budget,
      new Map(scope.origins.map((origin) => [origin, !open.has(origin)])),
    );
    if (crawl.budget === null)
      await this.add(
        transaction,
        crawl,
        scope.seeds.slice(0, budget).map((page) => ({ ...page, depth: 0 })),
      );
  }

  /**
   * Pages that are in the index and that the crawl did not come across. The way to them may be closed for a moment (a
   * sitemap, a page in between, a root that redirects to a login), so they leave only when they say themselves that they are gone.
   */
  private async addKnown(
    transaction: Transaction,
    locked: LockedCrawl,
    crawl: CurrentCrawl,
    scope: CrawlScope,
    budget: number,
  ): Promise<void> {
    // What has no room among the known pages is nothing that the sites have more of.
    if (locked.budgetReached) return;
    const away = (await this.ended.sites(transaction, crawl)).filter((site) => site.away).map(({ id }) => id);
    const known = (await this.ended.unfound(transaction, crawl, away, budget)).flatMap(({ url, depth }) => {
      const page = scope.pageAt(url);
      return page ? [{ ...page, depth }] : [];
    });
    await this.add(transaction, crawl, known.slice(0, locked.room));
  }

  private async add(transaction: Transaction, crawl: CrawlKey, pages: readonly FoundPage[]): Promise<void> {
    if (pages.length > 0) await this.pages.record(transaction, crawl, newId(), pages, []);
  }

  /** Removes from the index what the crawl did not find, and stores the state of the sync. */
  private async end(crawl: CurrentCrawl, budget: number, signal: AbortSignal): Promise<void> {
    const sites = await this.ended.sites(this.database, crawl);
    const open = new Set(crawl.roots.filter(followsLinks).map(({ id }) => id));
    const keptRoots = sites.filter(({ id, away }) => away && open.has(id)).map(({ id }) => id);
    await this.removePages.afterCrawl(crawl, keptRoots, signal);
    await this.database.transaction(async (transaction) => {
      const { budgetReached } = await this.pages.lock(transaction, crawl);
      const now = this.clock.now();
      const result = sites.length === 0 ? null : crawlResult(sites, budgetReached ? budget : null);
      // Also for slices that broke off before they could ask.
      await this.embeddings.chunksAdded(transaction, crawl.organizationId, crawl.agentId);
      await this.ended.end(transaction, crawl, result, now, result && nextCrawlOf(crawl.agentId, now));
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
