import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import type { UnreadSitemaps } from '../domain/unread-sitemaps.js';
import { UNFINISHED, WITH_UNREAD_SITEMAPS } from './crawl-origins.sql.js';
import { StoredOrigin, UNREAD_SITEMAPS } from './website.entities.js';
import { type CrawlKey, toCrawlKey } from './website.repository.js';

export interface UnreadOrigin extends CrawlKey {
  /** The sitemaps that an earlier slice did not get to; null before the first one. */
  readonly sitemaps: UnreadSitemaps | null;
}

/** The origins of a crawl's sites: their unread sitemaps and their boilerplate. */
@Injectable()
export class CrawlOrigins {
  constructor(private readonly database: Database) {}

  /** Crawls that have sitemaps of the origin to read, the one started first before the others. */
  async withUnreadSitemaps(origin: string, now: Date): Promise<UnreadOrigin[]> {
    const rows = await WITH_UNREAD_SITEMAPS.run<CrawlKey & { sitemaps: unknown }>(this.database, { origin, now });
    return rows.map(({ sitemaps, ...crawl }) => ({
      ...crawl,
      sitemaps: UNREAD_SITEMAPS.readNullable(sitemaps, `${crawl.crawlId} ${origin}`),
    }));
  }

  /** Origins of the crawl with pages to visit or sitemaps to read. */
  async unfinished(transaction: Transaction, crawl: CrawlKey): Promise<string[]> {
    const rows = await UNFINISHED.run<{ origin: string }>(transaction, crawl);
    return rows.map(({ origin }) => origin);
  }

  /** @param sitemaps those that are still unread; null where all were read */
  async setUnreadSitemaps(
    { em }: Transaction,
    crawl: CrawlKey,
    origin: string,
    sitemaps: UnreadSitemaps | null,
    availableAt: Date,
  ): Promise<void> {
    const changes = { hasReadSitemaps: sitemaps === null, sitemaps, availableAt };
    await em.nativeUpdate(StoredOrigin, { ...toCrawlKey(crawl), origin }, changes);
  }

  /** Keys of the blocks that are boilerplate on the origin's pages; null until the crawl has compared its first pages. */
  async repeated(crawl: CrawlKey, origin: string): Promise<ReadonlySet<string> | null> {
    const row = await this.database.read((em) => em.findOne(StoredOrigin, { ...toCrawlKey(crawl), origin }));
    return row?.repeated === undefined || row.repeated === null ? null : keysIn(row.repeated);
  }

  async setRepeated(crawl: CrawlKey, origin: string, keys: ReadonlySet<string>): Promise<void> {
    await this.database.write((em) =>
      em.nativeUpdate(StoredOrigin, { ...toCrawlKey(crawl), origin }, { repeated: [...keys].join(' ') }),
    );
  }
}

export function keysIn(text: string | null): ReadonlySet<string> {
  return new Set(text === null || text === '' ? [] : text.split(' '));
}
