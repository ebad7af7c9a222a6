import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../../agents/index.js';
import {
  Database,
  type EntityReader,
  inBatches,
  type SqlExecutor,
  type Transaction,
} from '../../../platform/database/index.js';
import type { SyncStatus } from '../../index/domain/sync-status.js';
import type { CrawlResult, PageOutcome, SiteTally, TalliedPage } from '../domain/crawl-result.js';
import type { WebsiteRoot } from '../domain/website-root.js';
import { StoredOrigin, StoredPage, StoredRoot, StoredWebsite } from './website.entities.js';
import * as sql from './websites.sql.js';

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

export interface CurrentCrawl extends CrawlKey {
  readonly roots: readonly WebsiteRoot[];
  /** Most pages that it fetches; null until the crawl has begun. */
  readonly budget: number | null;
  readonly budgetReached: boolean;
  /** When it was requested. */
  readonly startedAt: Date | null;
}

type PageTally = TalliedPage & {
  readonly rootId: string;
  readonly outcome: PageOutcome | null;
  readonly isMissing: boolean;
  readonly hasMoved: boolean;
  readonly count: number;
};

/** A site once all of its pages have an outcome. */
export interface CrawledSite extends SiteTally {
  readonly id: string;
  /** Its first page failed for a reason that may pass, so pages that the crawl did not visit may still exist. */
  readonly isUnavailable: boolean;
}

/** The websites of agents, and which crawls they have. */
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
    const roots = await this.roots(this.database, organizationId, agentId);
    return { organizationId, agentId, crawlId, roots, budget, budgetReached, startedAt };
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
   * Sets the budget and the origins of a crawl, whose lock the transaction holds. Keeps the boilerplate that the crawl before has
   * found on an origin.
   * @param withSitemaps the origins whose sitemaps are read
   */
  async begin(
    { em }: Transaction,
    { organizationId, agentId, crawlId }: CrawlKey,
    budget: number,
    origins: readonly string[],
    withSitemaps: ReadonlySet<string>,
  ): Promise<void> {
    await em.nativeUpdate(StoredWebsite, { organizationId, agentId, crawlId, budget: null }, { budget });
    const known = await em.find(StoredOrigin, { organizationId, agentId }, { disableIdentityMap: true });
    const own = new Set(known.filter((row) => row.crawlId === crawlId).map(({ origin }) => origin));
    const missing = origins
      .filter((origin) => !own.has(origin))
      .map((origin) => {
        const before = known.find((row) => row.origin === origin);
        return {
          ...{ organizationId, agentId, crawlId, origin, hasReadSitemaps: !withSitemaps.has(origin) },
          ...{ sitemaps: null, availableAt: new Date(0), repeated: null },
          earlier: before?.repeated ?? before?.earlier ?? null,
        };
      });
    if (missing.length > 0) await em.insertMany(StoredOrigin, missing);
    await em.nativeDelete(StoredOrigin, { organizationId, agentId, crawlId: { $ne: crawlId } });
  }

  /** In the order of the sites. */
  async crawledSites(source: EntityReader & SqlExecutor, crawl: CrawlKey): Promise<CrawledSite[]> {
    const roots = await this.roots(source, crawl.organizationId, crawl.agentId);
    const tallies = await sql.TALLY_PAGES.run<PageTally>(source, crawl);
    return roots.map(({ id, rootUrl }) => {
      const [indexed, failed, skipped] = (['indexed', 'failed', 'skipped'] as const).map((outcome) =>
        tallies.find((tally) => tally.rootId === id && tally.outcome === outcome),
      );
      return {
        ...{ id, rootUrl, indexed: indexed?.count ?? 0, failed: failed?.count ?? 0, skipped: skipped?.count ?? 0 },
        ...{ firstFailed: failed ?? null, firstSkipped: skipped ?? null },
        isUnavailable: failed?.depth === 0 && !failed.isMissing,
        isRedirectedAway: skipped?.depth === 0 && skipped.hasMoved,
      };
    });
  }

  /** The transaction holds the crawl's lock. @param result null where there was nothing to crawl */
  async endCrawl(
    { em }: Transaction,
    crawl: CrawlKey,
    result: CrawlResult | null,
    now: Date,
    nextCrawlAt: Date | null,
  ): Promise<void> {
    const hasSucceeded = result !== null && result.state !== 'FAILED';
    await em.nativeUpdate(StoredWebsite, toCrawlKey(crawl), {
      ...{ workLeft: false, lastError: result?.lastError ?? null, activeAt: now, nextCrawlAt },
      ...(result && { state: result.state }),
      ...(hasSucceeded && { lastSuccessfulAt: now }),
    });
  }

  /** Agents of all organizations whose next crawl is due. */
  due(now: Date, limit: number): Promise<Omit<CrawlKey, 'crawlId'>[]> {
    return sql.DUE.run(this.database, { now, limit });
  }

  /** @returns whether the crawl is still due; if so, the website is locked until the transaction ends */
  async lockDue({ em }: Transaction, organizationId: string, agentId: string, now: Date): Promise<boolean> {
    const where = { organizationId, agentId, nextCrawlAt: { $lte: now } };
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
    return (await em.findOne(StoredWebsite, where, options)) !== null;
  }

  /** Crawls of all organizations without progress since `before`. They now count as active, so that no other process takes them too. */
  takeStalled(transaction: Transaction, before: Date, now: Date, limit: number): Promise<CrawlKey[]> {
    return sql.TAKE_STALLED.run(transaction, { before, now, limit });
  }

  /** Deletes nothing if the agent exists. */
  async deleteOfDeletedAgent({ organizationId, agentId }: DeletedAgent): Promise<void> {
    await sql.DELETE_WEBSITE_OF_DELETED_AGENT.run(this.database, { organizationId, agentId });
  }

  /** Deletes nothing if the agent exists. @returns how many pages were deleted */
  async deletePagesOfDeletedAgent({ organizationId, agentId }: DeletedAgent, limit: number): Promise<number> {
    const deleted = await sql.DELETE_PAGES_OF_DELETED_AGENT.run(this.database, { organizationId, agentId, limit });
    return deleted.length;
  }
}
