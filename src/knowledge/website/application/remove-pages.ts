import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { CrawlPages } from '../persistence/crawl-pages.repository.js';
import { EndedCrawls } from '../persistence/ended-crawls.repository.js';
import type { CrawlKey } from '../persistence/website.repository.js';
import { REMOVE_BATCH } from '../limits.js';

/** Takes pages out of the index that are no longer an agent's, in batches. Stands being broken off at any point. */
@Injectable()
export class RemovePages {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly ended: EndedCrawls,
    private readonly index: DocumentIndex,
  ) {}

  /** Before anything is fetched. @throws CrawlSuperseded */
  async ofRemovedSites(crawl: CrawlKey, signal: AbortSignal): Promise<void> {
    await this.removeAll(crawl, signal, (transaction) =>
      this.ended.leavingOfRemovedSites(transaction, crawl, REMOVE_BATCH),
    );
  }

  /** At the end of a crawl. @throws CrawlSuperseded */
  async afterCrawl(crawl: CrawlKey, keptRoots: readonly string[], signal: AbortSignal): Promise<void> {
    await this.removeAll(crawl, signal, (transaction) =>
      this.ended.leaving(transaction, crawl, keptRoots, REMOVE_BATCH),
    );
    for (;;) {
      signal.throwIfAborted();
      const removed = await this.holding(crawl, (transaction) =>
        this.ended.removeUnfound(transaction, crawl, keptRoots, REMOVE_BATCH),
      );
      if (removed < REMOVE_BATCH) return;
    }
  }

  private async removeAll(
    crawl: CrawlKey,
    signal: AbortSignal,
    next: (transaction: Transaction) => Promise<string[]>,
  ): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      // What was known of the pages is forgotten first: a worker that dies after the removal would leave pages that
      // the next crawl finds unchanged, and of which nothing is left.
      const documentIds = await this.holding(crawl, next);
      if (documentIds.length === 0) return;
      await this.index.remove(crawl.organizationId, documentIds, signal);
      await this.ended.noteRemoved(crawl, documentIds);
    }
  }

  private holding<Result>(crawl: CrawlKey, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (transaction) => {
      await this.pages.lock(transaction, crawl);
      return work(transaction);
    });
  }
}
