import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import type { UnreadSitemaps } from '../domain/unread-sitemaps.js';
import { HOST_BUSY_MS } from '../limits.js';
import { CrawlOrigins, type UnreadOrigin } from '../persistence/crawl-origins.repository.js';
import { CrawlPages, type FoundPage } from '../persistence/crawl-pages.repository.js';
import type { CrawlContext, HostSlice } from './host-slice.js';
import { HttpRobots } from './http-robots.js';
import { HttpSitemaps } from './http-sitemaps.js';

/** Reads an origin's sitemaps for the crawls that have not read them, and adds the listed pages. Their other pages are claimed afterwards. */
@Injectable()
export class ReadSitemaps {
  constructor(
    private readonly origins: CrawlOrigins,
    private readonly pages: CrawlPages,
    private readonly robots: HttpRobots,
    private readonly sitemaps: HttpSitemaps,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async execute(slice: HostSlice): Promise<void> {
    for (const site of await this.origins.withUnreadSitemaps(slice.origin, this.clock.now())) {
      if (slice.isOver) return;
      await slice.workFor(site, (context) => this.read(context, site));
    }
  }

  private async read(context: CrawlContext, { sitemaps: unread }: UnreadOrigin): Promise<void> {
    const { slice } = context;
    const { origin, host, signal } = slice;
    if (slice.isPausedTooLong || context.full) return this.store(context, [], null, false);
    const listed = await host.withConnection(async () => {
      const rules = await this.robots.rulesOf(host, origin, signal, context.crawl.startedAt);
      if (rules.closed !== null) return { pages: [], unread: null, isBusy: false };
      const isWanted = (url: URL): boolean => rules.allows(url) && context.scope.pageAt(url.href) !== null;
      const { crawlDelayMs, sitemaps } = rules;
      const request = { host, origin, crawlDelayMs, sitemaps, unread, maxUrls: context.budget };
      return this.sitemaps.pagesOf({ ...request, isWanted, isOver: () => slice.isOver }, signal);
    });
    const found = listed.pages.flatMap((url) => {
      const page = context.scope.pageAt(url);
      return page ? [{ ...page, depth: 1 }] : [];
    });
    await this.store(context, found, listed.unread, listed.isBusy);
  }

  private async store(
    context: CrawlContext,
    found: readonly FoundPage[],
    unread: UnreadSitemaps | null,
    isBusy: boolean,
  ): Promise<void> {
    const {
      crawl,
      slice: { origin, host },
    } = context;
    const pages = context.withoutStored(found);
    const availableAt = new Date(this.clock.now().getTime() + (isBusy ? HOST_BUSY_MS : 0));
    const recorded = await this.database.transaction(async (transaction) => {
      const result = await this.pages.record(transaction, crawl, host.id, pages, []);
      await this.origins.setUnreadSitemaps(transaction, crawl, origin, unread, availableAt);
      return result;
    });
    context.markStored(pages, recorded.full);
  }
}
