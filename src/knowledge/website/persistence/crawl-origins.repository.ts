import { Injectable } from '@nestjs/common';
import { Database, rowsOf, type Transaction } from '../../../platform/database/index.js';
import type { UnreadSitemaps } from '../domain/unread-sitemaps.js';
import { StoredOrigin, tables, UNREAD_SITEMAPS } from './website.entities.js';
import { type CrawlKey, crawlKeyOf } from './website.repository.js';

export interface UnopenedSite extends CrawlKey {
  /** What an earlier reading left of its sitemaps; null before the first one. */
  readonly sitemaps: UnreadSitemaps | null;
}

/** What crawls know of the origins of their sites. */
@Injectable()
export class CrawlOrigins {
  constructor(private readonly database: Database) {}

  /** Crawls whose sitemaps of an origin are to be read, the one that was asked for first before the others. Of all organizations: a host is asked for them all. */
  async unopened(origin: string, now: Date): Promise<UnopenedSite[]> {
    const found = tables
      .selectFrom('knowledge_website_origins as turn')
      .innerJoin('knowledge_websites as site', (join) =>
        join.onRef('site.agent_id', '=', 'turn.agent_id').onRef('site.crawl_id', '=', 'turn.crawl_id'),
      )
      .select([
        'turn.organization_id as organizationId',
        'turn.agent_id as agentId',
        'turn.crawl_id as crawlId',
        'turn.sitemaps',
      ])
      .where('turn.origin', '=', origin)
      .where('turn.opened', '=', false)
      .where('turn.available_at', '<=', now.toISOString())
      .where('site.work_left', '=', true)
      .orderBy('turn.available_at')
      .orderBy('site.active_at');
    const rows = await rowsOf(this.database, found);
    return rows.map(({ sitemaps, ...crawl }) => ({
      ...crawl,
      sitemaps: UNREAD_SITEMAPS.readNullable(sitemaps, `${crawl.crawlId} ${origin}`),
    }));
  }

  /** @param sitemaps what is left of them; null for nothing */
  async noteSitemaps(
    { em }: Transaction,
    crawl: CrawlKey,
    origin: string,
    sitemaps: UnreadSitemaps | null,
    availableAt: Date,
  ): Promise<void> {
    await em.nativeUpdate(
      StoredOrigin,
      { ...crawlKeyOf(crawl), origin },
      { opened: sitemaps === null, sitemaps, availableAt },
    );
  }

  /** Keys of the blocks that are boilerplate on the origin's pages; null while the crawl does not know them. */
  async repeated(crawl: CrawlKey, origin: string): Promise<ReadonlySet<string> | null> {
    const row = await this.database.read((em) => em.findOne(StoredOrigin, { ...crawlKeyOf(crawl), origin }));
    return row?.repeated === undefined || row.repeated === null ? null : keysIn(row.repeated);
  }

  async setRepeated(crawl: CrawlKey, origin: string, keys: ReadonlySet<string>): Promise<void> {
    await this.database.write((em) =>
      em.nativeUpdate(StoredOrigin, { ...crawlKeyOf(crawl), origin }, { repeated: [...keys].join(' ') }),
    );
  }
}

export function keysIn(text: string | null): ReadonlySet<string> {
  return new Set(text === null || text === '' ? [] : text.split(' '));
}
