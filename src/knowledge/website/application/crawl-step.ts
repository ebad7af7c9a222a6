import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { TransactionEvents } from '../../../platform/events/index.js';
import { derivedId, newId } from '../../../platform/ids/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { EmbeddingQueue } from '../../index/application/indexing/embedding-queue.js';
import { KnowledgeSyncFinished } from '../../index/domain/knowledge.events.js';
import { crawlResult } from '../domain/crawl-result.js';
import { CrawlScope } from '../domain/crawl-scope.js';
import { followsLinks } from '../domain/website-root.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import { crawlHost } from '../jobs/crawl.jobs.js';
import { MIN_RECRAWL_PAUSE_MS, RECRAWL_MS } from '../limits.js';
import { CrawlPages, type FoundPage, type LockedCrawl } from '../persistence/crawl-pages.repository.js';
import { CrawlOrigins } from '../persistence/crawl-origins.repository.js';
import { type CrawlKey, type CurrentCrawl, WebsiteRepository } from '../persistence/website.repository.js';
import { RemovePages } from './remove-pages.js';

/** Begins a crawl, and ends it once all of its pages have an outcome. The workers of its hosts visit the pages. */
@Injectable()
export class CrawlStep {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly pages: CrawlPages,
    private readonly origins: CrawlOrigins,
    private readonly organizations: OrganizationDirectory,
    private readonly removePages: RemovePages,
    private readonly embeddings: EmbeddingQueue,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly events: TransactionEvents,
    private readonly clock: Clock,
  ) {}

  /** Does nothing where another crawl has replaced this one. */
  async execute(key: CrawlKey, signal: AbortSignal): Promise<void> {
    const crawl = await this.websites.currentCrawl(key);
    if (!crawl) return;
    const budget = crawl.budget ?? (await this.organizations.find(crawl.organizationId))?.crawlPages ?? 0;
    const scope = new CrawlScope(crawl.roots);
    try {
      if (crawl.budget === null) await this.removePages.ofRemovedSites(crawl, signal);
      if (await this.enqueueHosts(crawl, (transaction) => this.begin(transaction, crawl, scope, budget))) return;
      if (await this.enqueueHosts(crawl, (transaction) => this.pages.resolveCopies(transaction, crawl))) return;
      const addUnvisited = (transaction: Transaction, locked: LockedCrawl): Promise<void> =>
        this.addUnvisited(transaction, locked, crawl, scope, budget);
      if (await this.enqueueHosts(crawl, addUnvisited)) return;
      await this.end(crawl, budget, signal);
    } catch (error) {
      if (!(error instanceof CrawlSuperseded)) throw error;
    }
  }

  /** Adds pages and enqueues a job for each origin that has work. @returns whether any has */
  private enqueueHosts(
    crawl: CrawlKey,
    add: (transaction: Transaction, locked: LockedCrawl) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      await add(transaction, await this.pages.lock(transaction, crawl));
      const origins = await this.origins.unfinished(transaction, crawl);
      for (const origin of origins)
        await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin });
      return origins.length > 0;
    });
  }

  /** The first pages of all sites are added before any sitemap is read: one large sitemap could use up the budget. */
  private async begin(transaction: Transaction, crawl: CurrentCrawl, scope: CrawlScope, budget: number): Promise<void> {
    await this.websites.begin(transaction, crawl, budget, scope.origins, new Set(scope.openOrigins));
    if (crawl.budget !== null) return;
    const seeds = scope.seeds.slice(0, budget).map((page) => ({ ...page, depth: 0 }));
    await this.add(transaction, crawl, seeds);
  }

  /**
   * Adds indexed pages that the crawl did not find. A sitemap, or a page that links to them, may have failed only this time, or
   * a root may redirect to a login; so such a page leaves the index only after its own answer.
   */
  private async addUnvisited(
    transaction: Transaction,
    locked: LockedCrawl,
    crawl: CurrentCrawl,
    scope: CrawlScope,
    budget: number,
  ): Promise<void> {
    // Pages that do not fit now do not count as "the sites have more" (`budgetReached`), so nothing is added then.
    if (locked.budgetReached) return;
    const sites = await this.websites.crawledSites(transaction, crawl);
    const unavailable = sites.filter((site) => site.isUnavailable).map(({ id }) => id);
    const unvisited = await this.pages.unvisited(transaction, crawl, unavailable, budget);
    const pages = unvisited.flatMap(({ url, depth }) => {
      const page = scope.pageAt(url);
      return page ? [{ ...page, depth }] : [];
    });
    await this.add(transaction, crawl, pages.slice(0, locked.room));
  }

  private async add(transaction: Transaction, crawl: CrawlKey, pages: readonly FoundPage[]): Promise<void> {
    if (pages.length > 0) await this.pages.record(transaction, crawl, newId(), pages, []);
  }

  /** Removes documents of pages that the crawl did not find, and stores the state of the sync. */
  private async end(crawl: CurrentCrawl, budget: number, signal: AbortSignal): Promise<void> {
    const sites = await this.websites.crawledSites(this.database, crawl);
    const open = new Set(crawl.roots.filter(followsLinks).map(({ id }) => id));
    const keptRoots = sites.filter(({ id, isUnavailable }) => isUnavailable && open.has(id)).map(({ id }) => id);
    await this.removePages.afterCrawl(crawl, keptRoots, signal);
    await this.database.transaction(async (transaction) => {
      const { budgetReached } = await this.pages.lock(transaction, crawl);
      const now = this.clock.now();
      const result = sites.length === 0 ? null : crawlResult(sites, budgetReached ? budget : null);
      // Also for the chunks of slices that failed before they could enqueue it.
      await this.embeddings.enqueueAgent(transaction, crawl.organizationId, crawl.agentId);
      await this.websites.endCrawl(transaction, crawl, result, now, result && nextCrawlAt(crawl.agentId, now));
      if (result) await this.events.publish(transaction, syncFinished(crawl, now));
    });
  }
}

/** The websites of an agent are one source, without an id of its own. */
function syncFinished({ organizationId, agentId }: CurrentCrawl, now: Date): KnowledgeSyncFinished {
  const sourceId = derivedId(new Date(0), ['websites', organizationId, agentId]);
  return new KnowledgeSyncFinished(organizationId, agentId, sourceId, now);
}

/** At the same time each day. The time follows from the agent's id, which spreads the agents over the day. */
function nextCrawlAt(agentId: string, now: Date): Date {
  const share = createHash('sha256').update(agentId).digest().readUInt32BE(0) / 2 ** 32;
  const earliest = now.getTime() + MIN_RECRAWL_PAUSE_MS;
  const intoDay = Math.round(share * RECRAWL_MS);
  return new Date(earliest + ((((intoDay - earliest) % RECRAWL_MS) + RECRAWL_MS) % RECRAWL_MS));
}
