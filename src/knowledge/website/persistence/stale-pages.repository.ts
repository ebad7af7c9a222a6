import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import * as sql from './stale-pages.sql.js';
import { type CrawlKey, toCrawlKey } from './website.repository.js';

/** Pages of earlier crawls that a crawl has not visited, and visited pages whose documents leave the index. */
@Injectable()
export class StalePages {
  constructor(private readonly database: Database) {}

  /**
   * Documents of pages that the finished crawl skipped, found missing (404, 410) or did not visit. The pages' validators are
   * cleared. The transaction holds the crawl's lock.
   * @param keptRoots sites of which only visited pages lose their documents
   */
  async takeDocuments(
    transaction: Transaction,
    crawl: CrawlKey,
    keptRoots: readonly string[],
    limit: number,
  ): Promise<string[]> {
    return documentIds(await sql.TAKE_DOCUMENTS.run(transaction, { ...toCrawlKey(crawl), keptRoots, limit }));
  }

  /** Documents of pages whose site the agent no longer has; before the crawl begins, and otherwise as `takeDocuments`. */
  async takeDocumentsOfRemovedSites(transaction: Transaction, crawl: CrawlKey, limit: number): Promise<string[]> {
    return documentIds(await sql.TAKE_DOCUMENTS_OF_REMOVED_SITES.run(transaction, { ...toCrawlKey(crawl), limit }));
  }

  /** The index no longer has these documents. */
  async clearDocuments(crawl: CrawlKey, documentIds: readonly string[]): Promise<void> {
    await sql.CLEAR_DOCUMENTS.run(this.database, { ...toCrawlKey(crawl), documentIds });
  }

  /** Indexed pages that the crawl has not visited, of all sites except `exceptRoots`. */
  unvisited(
    transaction: Transaction,
    crawl: CrawlKey,
    exceptRoots: readonly string[],
    limit: number,
  ): Promise<{ url: string; depth: number }[]> {
    return sql.UNVISITED.run(transaction, { ...toCrawlKey(crawl), keptRoots: exceptRoots, limit });
  }

  /** Deletes pages that the crawl has not visited and that have no document. The transaction holds the crawl's lock. @returns how many */
  async deleteUnvisited(
    transaction: Transaction,
    crawl: CrawlKey,
    keptRoots: readonly string[],
    limit: number,
  ): Promise<number> {
    return (await sql.DELETE_UNVISITED.run(transaction, { ...toCrawlKey(crawl), keptRoots, limit })).length;
  }
}

function documentIds(rows: readonly { readonly documentId: string }[]): string[] {
  return rows.map(({ documentId }) => documentId);
}
