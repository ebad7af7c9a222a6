import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { CrawlPages } from '../persistence/crawl-pages.repository.js';
import type { CrawlKey } from '../persistence/website.repository.js';
import { REMOVE_BATCH } from '../limits.js';

/** Removes documents of pages that an agent no longer has, in batches. May be interrupted at any step: a second run continues. */
@Injectable()
export class RemovePages {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly index: DocumentIndex,
  ) {}

  /** Runs before the crawl fetches a page. @throws CrawlSuperseded */
  async ofRemovedSites(crawl: CrawlKey, signal: AbortSignal): Promise<void> {
    await this.removeAll(crawl, signal, (transaction) =>
      this.pages.takeDocumentsOfRemovedSites(transaction, crawl, REMOVE_BATCH),
    );
  }

  /** Runs at the end of a crawl. @throws CrawlSuperseded */
  async afterCrawl(crawl: CrawlKey, keptRoots: readonly string[], signal: AbortSignal): Promise<void> {
    await this.removeAll(crawl, signal, (transaction) =>
      this.pages.takeDocuments(transaction, crawl, keptRoots, REMOVE_BATCH),
    );
    let removed: number;
    do {
      signal.throwIfAborted();
      removed = await this.withLock(crawl, (transaction) =>
        this.pages.deleteUnvisited(transaction, crawl, keptRoots, REMOVE_BATCH),
      );
    } while (removed === REMOVE_BATCH);
  }

  private async removeAll(
    crawl: CrawlKey,
    signal: AbortSignal,
    next: (transaction: Transaction) => Promise<string[]>,
  ): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      // This clears the pages' validators first. If the worker dies after the removal, the next crawl would otherwise find
      // the pages unchanged and leave them without a document.
      const documentIds = await this.withLock(crawl, next);
      if (documentIds.length === 0) return;
      await this.index.remove(crawl.organizationId, documentIds, signal);
      await this.pages.clearDocuments(crawl, documentIds);
    }
  }

  private withLock<Result>(crawl: CrawlKey, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (transaction) => {
      await this.pages.lock(transaction, crawl);
      return work(transaction);
    });
  }
}
