import { Injectable } from '@nestjs/common';
import type { EntityReader, SqlExecutor, Transaction } from '../../../platform/database/index.js';
import type { CrawlResult, PageOutcome, SiteTally, TalliedPage } from '../domain/crawl-result.js';
import { TALLY_PAGES } from './crawl-results.sql.js';
import { StoredWebsite } from './website.entities.js';
import { type CrawlKey, toCrawlKey, WebsiteRepository } from './website.repository.js';

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

/** What a crawl came to. */
@Injectable()
export class CrawlResults {
  constructor(private readonly websites: WebsiteRepository) {}

  /** In the order of the sites. */
  async sites(source: EntityReader & SqlExecutor, crawl: CrawlKey): Promise<CrawledSite[]> {
    const roots = await this.websites.roots(source, crawl.organizationId, crawl.agentId);
    const tallies = await TALLY_PAGES.run<PageTally>(source, toCrawlKey(crawl));
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
  async end(
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
}
