import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import type { CrawlResult, SiteTally } from '../domain/crawl-result.js';
import * as sql from './crawl-pages.sql.js';
import type { CrawlKey } from './website.repository.js';

/** A site as its crawl has left it. */
export interface EndedSite extends SiteTally {
  readonly id: string;
  /** Its first page failed for a reason that may pass: nothing can be said about the others. */
  readonly away: boolean;
}

interface TallyRow extends Omit<EndedSite, 'failedExample'> {
  readonly exampleUrl: string | null;
  readonly exampleReason: string | null;
}

/** What a crawl leaves behind, and what it takes away. */
@Injectable()
export class EndedCrawls {
  constructor(private readonly database: Database) {}

  async sites(crawl: CrawlKey): Promise<EndedSite[]> {
    const rows = await sql.TALLIES.run<TallyRow>(this.database, keyOf(crawl));
    return rows.map(({ exampleUrl, exampleReason, ...site }) => ({
      ...site,
      failedExample: exampleUrl === null ? null : { url: exampleUrl, reason: exampleReason ?? 'It failed.' },
    }));
  }

  /**
   * Documents that are to leave the index, as the crawl has ended: of pages that it skipped, found gone, or did not
   * find. In the transaction that holds the crawl.
   * @param keptRoots sites of which nothing leaves but what the crawl has looked at
   */
  async leaving(transaction: Transaction, crawl: CrawlKey, keptRoots: readonly string[], limit: number): Promise<string[]> {
    const rows = await sql.LEAVING.run<{ documentId: string }>(transaction, { ...keyOf(crawl), keptRoots, limit });
    return rows.map(({ documentId }) => documentId);
  }

  /** Pages that are in the index and not in the crawl, of all sites but these. */
  unfound(crawl: CrawlKey, exceptRoots: readonly string[], limit: number): Promise<{ url: string; depth: number }[]> {
    return sql.UNFOUND.run(this.database, { ...keyOf(crawl), exceptRoots, limit });
  }

  /** As `leaving`, before the crawl begins: of pages of sites that the agent does not have any more. */
  async leavingOfRemovedSites(transaction: Transaction, crawl: CrawlKey, limit: number): Promise<string[]> {
    const rows = await sql.LEAVING_OF_REMOVED_SITES.run<{ documentId: string }>(transaction, { ...keyOf(crawl), limit });
    return rows.map(({ documentId }) => documentId);
  }

  async noteRemoved(crawl: CrawlKey, documentIds: readonly string[]): Promise<void> {
    await sql.NOTE_REMOVED.run(this.database, { ...keyOf(crawl), documentIds });
  }

  /** @returns how many rows were removed. In the transaction that holds the crawl. */
  async removeUnfound(transaction: Transaction, crawl: CrawlKey, keptRoots: readonly string[], limit: number): Promise<number> {
    return (await sql.REMOVE_UNFOUND.run(transaction, { ...keyOf(crawl), keptRoots, limit })).length;
  }

  /** @param result null where there was nothing to crawl. In the transaction that holds the crawl. */
  async end(transaction: Transaction, crawl: CrawlKey, result: CrawlResult | null, now: Date, nextCrawlAt: Date | null): Promise<void> {
    await sql.END_CRAWL.run(transaction, {
      ...keyOf(crawl),
      state: result?.state ?? null,
      lastError: result?.lastError ?? null,
      succeededAt: result === null || result.state === 'FAILED' ? null : now,
      nextCrawlAt,
      now,
    });
  }
}

function keyOf({ organizationId, agentId, crawlId }: CrawlKey): CrawlKey {
  return { organizationId, agentId, crawlId };
}
