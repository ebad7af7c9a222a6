import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/index.js';
import { CrawlPages, type FoundPage } from '../persistence/crawl-pages.repository.js';
import { EndedCrawls } from '../persistence/ended-crawls.repository.js';
import { type CrawlContext, CrawlSuperseded } from './crawl-context.js';
import { DISALLOWED } from './visit-page.js';

/**
 * Adds pages that are in the index and that a crawl did not come across. The way to them may be closed for a moment (a
 * sitemap, a page in between, a root that redirects to a login), so they leave only when they say themselves that they are gone.
 */
@Injectable()
export class AskForKnownPages {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly ended: EndedCrawls,
  ) {}

  /**
   * When everything else has its outcome.
   * @returns whether there are any
   * @throws CrawlSuperseded
   */
  async execute(context: CrawlContext): Promise<boolean> {
    if (context.full) return false;
    const away = (await this.ended.sites(context.crawl)).filter((site) => site.away).map(({ id }) => id);
    const known = await this.ended.unfound(context.crawl, away, context.budget);
    const found: FoundPage[] = [];
    for (const { url, depth } of known) {
      const page = context.scope.pageAt(url);
      if (!page) continue;
      const isAllowed = (await context.rulesOf(page.origin)).allows(new URL(page.url));
      found.push({ ...page, depth, ...(isAllowed ? {} : { disallowed: DISALLOWED }) });
    }
    if (found.length === 0) return false;
    return this.database.transaction(async (transaction) => {
      const locked = await this.pages.lock(transaction, context.crawl);
      if (!locked) throw new CrawlSuperseded();
      const { added } = await this.pages.add(transaction, context.crawl, found.slice(0, locked.room), locked, context.claim);
      return added > 0;
    });
  }
}
