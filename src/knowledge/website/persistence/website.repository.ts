import { Injectable } from '@nestjs/common';
import { Database, type EntityReader, inBatches, type Transaction } from '../../../platform/database/index.js';
import type { SyncStatus } from '../../index/domain/sync-status.js';
import type { WebsiteRoot } from '../domain/website-root.js';
import { StoredOrigin, StoredPage, StoredRoot, StoredWebsite } from './website.entities.js';

export interface PageCounts {
  readonly found: number;
  readonly indexed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The websites of an agent, as clients read them. */
export interface Website {
  readonly roots: readonly WebsiteRoot[];
  readonly sync: SyncStatus;
  readonly pages: PageCounts;
}

/** One crawl of all sites of an agent. The current crawl is the one whose id is in the website's row. */
export interface CrawlKey {
  readonly organizationId: string;
  readonly agentId: string;
  readonly crawlId: string;
}

export function toCrawlKey({ organizationId, agentId, crawlId }: CrawlKey): CrawlKey {
  return { organizationId, agentId, crawlId };
}

/** The agent's current crawl. */
export interface CurrentCrawl extends CrawlKey {
  readonly roots: readonly WebsiteRoot[];
  /** Most pages that it fetches; null until the crawl has begun. */
  readonly budget: number | null;
  readonly budgetReached: boolean;
  /** When it was requested. */
  readonly startedAt: Date | null;
}

/** The websites of one agent at a time. */
@Injectable()
export class WebsiteRepository {
  constructor(private readonly database: Database) {}

  /** @returns null where the agent never had a website */
  async find(organizationId: string, agentId: string, source: EntityReader = this.database): Promise<Website | null> {
    const row = await source.read((em) =>
      em.findOne(StoredWebsite, { organizationId, agentId }, { disableIdentityMap: true }),
    );
    if (!row) return null;
    const { state, lastError, lastSuccessfulAt: lastSuccessfulSyncAt, startedAt } = row;
    const roots = await this.roots(source, organizationId, agentId);
    return {
      roots,
      sync: { state, lastError, lastSuccessfulSyncAt, startedAt },
      pages: await this.counts(source, { organizationId, agentId, crawlId: row.crawlId }),
    };
  }

  private async counts(source: EntityReader, crawl: CrawlKey): Promise<PageCounts> {
    const counts = await source.read((em) => em.countBy(StoredPage, 'outcome', { where: toCrawlKey(crawl) }));
    return {
      found: Object.values(counts).reduce((sum, count) => sum + count, 0),
      indexed: counts['indexed'] ?? 0,
      failed: counts['failed'] ?? 0,
      skipped: counts['skipped'] ?? 0,
    };
  }

  /** @returns null where another crawl has replaced it, or it has ended */
  async currentCrawl({ organizationId, agentId, crawlId }: CrawlKey): Promise<CurrentCrawl | null> {
    const row = await this.database.read((em) =>
      em.findOne(StoredWebsite, { organizationId, agentId, crawlId, workLeft: true }),
    );
    if (!row) return null;
    const { budget, budgetReached, startedAt } = row;
    return {
      organizationId,
      agentId,
      crawlId,
      roots: await this.roots(this.database, organizationId, agentId),
      budget,
      budgetReached,
      startedAt,
    };
  }

  /** For operator commands, which name no organization. @returns null where the agent never had a website */
  async organizationOf({ em }: Transaction, agentId: string): Promise<string | null> {
    return (await em.findOne(StoredWebsite, { agentId }, { disableIdentityMap: true }))?.organizationId ?? null;
  }

  /** Makes this the agent's current crawl, and locks the website's row until the transaction ends. */
  async save({ em }: Transaction, crawl: CrawlKey, state: 'IN_PROGRESS' | 'SUSPENDED', now: Date): Promise<void> {
    const begun = { budget: null, found: 0, disallowed: 0, budgetReached: false, nextCrawlAt: null };
    const startedAt = state === 'IN_PROGRESS' ? now : null;
    await em.upsert(
      StoredWebsite,
      { ...crawl, ...begun, state, startedAt, workLeft: true, activeAt: now },
      { onConflictFields: ['agentId'], disableIdentityMap: true },
    );
  }

  /** In the order in which the client set them. */
  async roots(source: EntityReader, organizationId: string, agentId: string): Promise<WebsiteRoot[]> {
    const rows = await source.read((em) =>
      em.find(StoredRoot, { organizationId, agentId }, { orderBy: { position: 'asc' }, disableIdentityMap: true }),
    );
    return rows.map(({ id, rootUrl, excludedUrls, selectedUrls }) => ({ id, rootUrl, excludedUrls, selectedUrls }));
  }

  async replaceRoots(
    { em }: Transaction,
    organizationId: string,
    agentId: string,
    roots: readonly WebsiteRoot[],
  ): Promise<void> {
    await em.nativeDelete(StoredRoot, { organizationId, agentId });
    const rows = roots.map(({ id, rootUrl, excludedUrls, selectedUrls }, position) => ({
      ...{ id, organizationId, agentId, position, rootUrl },
      excludedUrls: [...excludedUrls],
      selectedUrls: [...selectedUrls],
    }));
    for (const batch of inBatches(rows, (row) => JSON.stringify(row).length))
      await em.insertMany(StoredRoot, [...batch]);
  }

  async setSelection(
    { em }: Transaction,
    organizationId: string,
    agentId: string,
    id: string,
    urls: readonly string[],
  ): Promise<void> {
    await em.nativeUpdate(StoredRoot, { organizationId, agentId, id }, { selectedUrls: [...urls] });
  }

  /**
   * Sets the budget and the origins of a crawl, whose lock the transaction holds. What the crawl before knew of an origin's
   * boilerplate is kept.
   * @param origins each with whether there are no sitemaps to read
   */
  async begin(
    { em }: Transaction,
    { organizationId, agentId, crawlId }: CrawlKey,
    budget: number,
    origins: ReadonlyMap<string, boolean>,
  ): Promise<void> {
    await em.nativeUpdate(StoredWebsite, { organizationId, agentId, crawlId, budget: null }, { budget });
    const known = await em.find(StoredOrigin, { organizationId, agentId }, { disableIdentityMap: true });
    const own = new Set(known.filter((row) => row.crawlId === crawlId).map(({ origin }) => origin));
    const missing = [...origins]
      .filter(([origin]) => !own.has(origin))
      .map(([origin, hasReadSitemaps]) => {
        const before = known.find((row) => row.origin === origin);
        return {
          organizationId,
          agentId,
          crawlId,
          origin,
          hasReadSitemaps,
          sitemaps: null,
          availableAt: new Date(0),
          repeated: null,
          earlier: before?.repeated ?? before?.earlier ?? null,
        };
      });
    if (missing.length > 0) await em.insertMany(StoredOrigin, missing);
    await em.nativeDelete(StoredOrigin, { organizationId, agentId, crawlId: { $ne: crawlId } });
  }
}
