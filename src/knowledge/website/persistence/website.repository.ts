import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import {
  Database,
  type EntityReader,
  inBatches,
  rowsOf,
  type SqlExecutor,
  type Transaction,
} from '../../../platform/database/index.js';
import type { SyncStatus } from '../../index/domain/sync-status.js';
import type { WebsiteRoot } from '../domain/website-root.js';
import { StoredOrigin, StoredRoot, StoredWebsite, tables } from './website.entities.js';

export interface PageCounts {
  readonly found: number;
  readonly indexed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What an agent knows of websites, as clients read it. */
export interface Website {
  readonly roots: readonly WebsiteRoot[];
  readonly sync: SyncStatus;
  readonly pages: PageCounts;
}

/** One crawl of all sites of an agent. Each has an id of its own; the website's is that of the only one that counts. */
export interface CrawlKey {
  readonly organizationId: string;
  readonly agentId: string;
  readonly crawlId: string;
}

/** Of something that holds more than the key. */
export function crawlKeyOf({ organizationId, agentId, crawlId }: CrawlKey): CrawlKey {
  return { organizationId, agentId, crawlId };
}

/** The current crawl, and what it is about. */
export interface CurrentCrawl extends CrawlKey {
  readonly roots: readonly WebsiteRoot[];
  /** Of pages; null until the crawl has begun. */
  readonly budget: number | null;
  readonly budgetReached: boolean;
  /** When it was asked for. */
  readonly startedAt: Date | null;
}

/** The websites of one agent at a time. */
@Injectable()
export class WebsiteRepository {
  constructor(private readonly database: Database) {}

  /** @returns null when none was ever set */
  async find(
    organizationId: string,
    agentId: string,
    source: EntityReader & SqlExecutor = this.database,
  ): Promise<Website | null> {
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

  private async counts(executor: SqlExecutor, { organizationId, agentId, crawlId }: CrawlKey): Promise<PageCounts> {
    const counted = tables
      .selectFrom('knowledge_website_pages')
      .select(['outcome', sql<number>`count(*)::int`.as('count')])
      .where('organization_id', '=', organizationId)
      .where('agent_id', '=', agentId)
      .where('crawl_id', '=', crawlId)
      .groupBy('outcome');
    const rows = await rowsOf(executor, counted);
    const of = (outcome: string): number => rows.find((row) => row.outcome === outcome)?.count ?? 0;
    return {
      found: rows.reduce((sum, { count }) => sum + count, 0),
      indexed: of('indexed'),
      failed: of('failed'),
      skipped: of('skipped'),
    };
  }

  /** @returns null when the crawl is not, or no longer, the agent's current one */
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

  /** Keeps the agent from being deleted until the transaction ends. @returns its type; null when there is no such agent */
  async lockAgent(transaction: Transaction, organizationId: string, agentId: string): Promise<string | null> {
    const locked = tables
      .selectFrom('agents')
      .select('type')
      .where('organization_id', '=', organizationId)
      .where('id', '=', agentId)
      .forKeyShare();
    const [row] = await rowsOf(transaction, locked);
    return row?.type ?? null;
  }

  /** For the operator, who names no organization; null where the agent never had a website. */
  async organizationOf({ em }: Transaction, agentId: string): Promise<string | null> {
    return (await em.findOne(StoredWebsite, { agentId }, { disableIdentityMap: true }))?.organizationId ?? null;
  }

  /** The agent's crawl from now on; writes of one agent's website come one after the other from here. */
  async save({ em }: Transaction, crawl: CrawlKey, state: 'IN_PROGRESS' | 'SUSPENDED', now: Date): Promise<void> {
    const begun = { budget: null, found: 0, disallowed: 0, budgetReached: false, nextCrawlAt: null };
    const startedAt = state === 'IN_PROGRESS' ? now : null;
    await em.upsert(
      StoredWebsite,
      { ...crawl, ...begun, state, startedAt, workLeft: true, activeAt: now },
      { onConflictFields: ['agentId'], disableIdentityMap: true },
    );
  }

  /** In the order in which they were given. */
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

  async select(
    { em }: Transaction,
    organizationId: string,
    agentId: string,
    id: string,
    urls: readonly string[],
  ): Promise<void> {
    await em.nativeUpdate(StoredRoot, { organizationId, agentId, id }, { selectedUrls: [...urls] });
  }

  /** Under the lock of the crawl: what it may fetch, and which origins it has. What the crawl before knew of their boilerplate comes along. */
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
      .map(([origin, opened]) => {
        const before = known.find((row) => row.origin === origin);
        return {
          organizationId,
          agentId,
          crawlId,
          origin,
          opened,
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
