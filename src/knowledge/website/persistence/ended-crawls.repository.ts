import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';
import { Database, rowsOf, type SqlExecutor, type Transaction } from '../../../platform/database/index.js';
import type { CrawlResult, SiteTally } from '../domain/crawl-result.js';
import { StoredWebsite, tables } from './website.entities.js';
import type { CrawlKey } from './website.repository.js';

/** A site as its crawl has left it. */
export interface EndedSite extends SiteTally {
  readonly id: string;
  /** Its first page failed for a reason that may pass: nothing can be said about the others. */
  readonly away: boolean;
}

const FORGOTTEN = { etag: null, last_modified: null, links: null };

/** What a crawl leaves behind, and what it takes away. */
@Injectable()
export class EndedCrawls {
  constructor(private readonly database: Database) {}

  /** In the order of the sites. */
  async sites(executor: SqlExecutor, crawl: CrawlKey): Promise<EndedSite[]> {
    const roots = tables.selectFrom('knowledge_website_roots').select(['id', 'root_url as rootUrl']);
    const sites = await rowsOf(executor, roots.where(ofAgent(crawl)).orderBy('position'));
    const tallies = await rowsOf(
      executor,
      tables
        .selectFrom('knowledge_website_pages')
        .distinctOn(['root_id', 'outcome'])
        .select(['root_id', 'outcome', 'url', 'reason', 'depth', 'gone'])
        .select([
          sql<boolean>`moved_to is not null`.as('hasLeft'),
          sql<number>`(count(*) over (partition by root_id, outcome))::int`.as('count'),
        ])
        .where(ofAgent(crawl))
        .where('crawl_id', '=', crawl.crawlId)
        .orderBy('root_id')
        .orderBy('outcome')
        .orderBy('depth')
        .orderBy('gone')
        .orderBy(sql`url collate "C"`),
    );
    return sites.map(({ id, rootUrl }) => {
      const [indexed, failed, skipped] = (['indexed', 'failed', 'skipped'] as const).map((outcome) =>
        tallies.find((row) => row.root_id === id && row.outcome === outcome),
      );
      const away = failed?.depth === 0 && !failed.gone;
      const hasLeft = skipped?.depth === 0 && skipped.hasLeft;
      const counts = { indexed: indexed?.count ?? 0, failed: failed?.count ?? 0, skipped: skipped?.count ?? 0 };
      return { id, rootUrl, ...counts, firstFailed: failed ?? null, firstSkipped: skipped ?? null, away, hasLeft };
    });
  }

  /**
   * Documents that are to leave the index, as the crawl has ended: of pages that it skipped, found gone, or did not
   * find. What was known of the pages is forgotten. In the transaction that holds the crawl.
   * @param keptRoots sites of which nothing leaves but what the crawl has looked at
   */
  leaving(transaction: Transaction, crawl: CrawlKey, keptRoots: readonly string[], limit: number): Promise<string[]> {
    const isOver = sql<boolean>`case when crawl_id = ${crawl.crawlId}::uuid then outcome = 'skipped' or gone else root_id::text <> all(${textArray(keptRoots)}) end`;
    return this.leavingWhere(transaction, crawl, isOver, limit);
  }

  /** As `leaving`, before the crawl begins: of pages of sites that the agent does not have any more. */
  leavingOfRemovedSites(transaction: Transaction, crawl: CrawlKey, limit: number): Promise<string[]> {
    const isRemoved = sql<boolean>`crawl_id <> ${crawl.crawlId}::uuid and not exists (select 1 from knowledge_website_roots site
      where site.organization_id = knowledge_website_pages.organization_id and site.agent_id = knowledge_website_pages.agent_id and site.id = knowledge_website_pages.root_id)`;
    return this.leavingWhere(transaction, crawl, isRemoved, limit);
  }

  private async leavingWhere(
    transaction: Transaction,
    crawl: CrawlKey,
    where: RawBuilder<boolean>,
    limit: number,
  ): Promise<string[]> {
    const some = tables
      .selectFrom('knowledge_website_pages')
      .select('id')
      .where(ofAgent(crawl))
      .where('document_id', 'is not', null)
      .where(where)
      .limit(limit);
    const forgotten = tables
      .updateTable('knowledge_website_pages')
      .set(FORGOTTEN)
      .where('id', 'in', some)
      .returning('document_id');
    return (await rowsOf(transaction, forgotten)).flatMap(({ document_id: id }) => (id === null ? [] : [id]));
  }

  /** Pages that are in the index and not in the crawl, of all sites but these. */
  unfound(
    transaction: Transaction,
    crawl: CrawlKey,
    exceptRoots: readonly string[],
    limit: number,
  ): Promise<{ url: string; depth: number }[]> {
    const unfound = tables
      .selectFrom('knowledge_website_pages')
      .select(['url', 'depth'])
      .where(ofAgent(crawl))
      .where('crawl_id', '<>', crawl.crawlId)
      .where('document_id', 'is not', null)
      .where(sql<boolean>`root_id::text <> all(${textArray(exceptRoots)})`)
      .orderBy('depth')
      .orderBy(sql`url collate "C"`)
      .limit(limit);
    return rowsOf(transaction, unfound);
  }

  /** The documents are out of the index. A crawl that began meanwhile may have put one anew before that: its page is visited once more. */
  async noteRemoved(crawl: CrawlKey, documentIds: readonly string[]): Promise<void> {
    const isAnew = sql`crawl_id <> ${crawl.crawlId}::uuid and outcome = 'indexed'`;
    const noted = tables
      .updateTable('knowledge_website_pages')
      .set({
        ...FORGOTTEN,
        document_id: null,
        state: sql`case when ${isAnew} then 'pending' else state end`,
        outcome: sql`case when ${isAnew} then null else outcome end`,
      })
      .where(ofAgent(crawl))
      .where('document_id', 'in', [...documentIds])
      .returning('id');
    await rowsOf(this.database, noted);
  }

  /** Pages that the crawl did not find, of which nothing is in the index. @returns how many were removed. In the transaction that holds the crawl. */
  async removeUnfound(
    transaction: Transaction,
    crawl: CrawlKey,
    keptRoots: readonly string[],
    limit: number,
  ): Promise<number> {
    const some = tables
      .selectFrom('knowledge_website_pages')
      .select('id')
      .where(ofAgent(crawl))
      .where('crawl_id', '<>', crawl.crawlId)
      .where('document_id', 'is', null)
      .where(sql<boolean>`root_id::text <> all(${textArray(keptRoots)})`)
      .limit(limit);
    return (
      await rowsOf(transaction, tables.deleteFrom('knowledge_website_pages').where('id', 'in', some).returning('id'))
    ).length;
  }

  /** @param result null where there was nothing to crawl. In the transaction that holds the crawl. */
  async end(
    { em }: Transaction,
    crawl: CrawlKey,
    result: CrawlResult | null,
    now: Date,
    nextCrawlAt: Date | null,
  ): Promise<void> {
    const { organizationId, agentId, crawlId } = crawl;
    const changes = { workLeft: false, lastError: result?.lastError ?? null, activeAt: now, nextCrawlAt };
    const succeeded = result === null || result.state === 'FAILED' ? {} : { lastSuccessfulAt: now };
    await em.nativeUpdate(
      StoredWebsite,
      { organizationId, agentId, crawlId },
      { ...changes, ...succeeded, ...(result && { state: result.state }) },
    );
  }

  /** Origins of a crawl that have something to do left. */
  async unfinishedOrigins(transaction: Transaction, crawl: CrawlKey): Promise<string[]> {
    const pages = tables
      .selectFrom('knowledge_website_pages')
      .select('origin')
      .where(ofAgent(crawl))
      .where('crawl_id', '=', crawl.crawlId)
      .where('state', '<>', 'done');
    const sites = tables
      .selectFrom('knowledge_website_origins')
      .select('origin')
      .where(ofAgent(crawl))
      .where('crawl_id', '=', crawl.crawlId)
      .where('opened', '=', false);
    return (await rowsOf(transaction, pages.union(sites))).map(({ origin }) => origin);
  }
}

function ofAgent({ organizationId, agentId }: CrawlKey): RawBuilder<boolean> {
  return sql<boolean>`organization_id = ${organizationId}::uuid and agent_id = ${agentId}::uuid`;
}

/** Ids, as PostgreSQL's text of an array: the drivers of the two databases encode a JavaScript array differently. */
function textArray(ids: readonly string[]): RawBuilder<string> {
  return sql<string>`${`{${ids.join(',')}}`}::text[]`;
}
