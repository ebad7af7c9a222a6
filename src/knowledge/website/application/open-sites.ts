import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/index.js';
import { hostOf } from '../domain/host.js';
import { HostPaused, HostSlots } from './host-slots.js';
import { Sitemaps, type UnreadSitemaps } from './sitemaps.js';
import { CrawlPages, type FoundPage } from '../persistence/crawl-pages.repository.js';
import { CrawlContext, CrawlSuperseded } from './crawl-context.js';
import { MAX_PAUSE_MS, SITES_OPENED_AT_ONCE } from '../limits.js';

/** Adds the pages that a crawl begins with: the roots, or the pages that were picked; then what sitemaps list. */
@Injectable()
export class OpenSites {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly sitemaps: Sitemaps,
    private readonly slots: HostSlots,
  ) {}

  /** All sites' first pages come before any sitemap: none of them is left out because of a large one. @throws CrawlSuperseded */
  async begin(context: CrawlContext): Promise<void> {
    await this.add(context, context.scope.seeds.map((page) => ({ ...page, depth: 0 })), async (transaction) => {
      await this.pages.open(transaction, context.crawl, context.budget);
    });
  }

  /**
   * Reads the sitemaps of some hosts that have not been asked yet.
   * @returns whether some of them are still to be asked: at once, or once it is their turn
   * @throws CrawlSuperseded
   */
  async next(context: CrawlContext): Promise<'now' | 'in_turn' | 'none'> {
    const opened = await this.pages.openedOrigins(context.crawl);
    const waiting = context.scope.openOrigins.filter((origin) => opened.get(origin) !== null);
    await this.slots.pausesOf(waiting.map((origin) => hostOf(new URL(origin))));
    const paused: string[] = [];
    for (let at = 0; at < waiting.length; at += SITES_OPENED_AT_ONCE) {
      const some = waiting.slice(at, at + SITES_OPENED_AT_ONCE);
      const ended = await Promise.all(some.map((origin) => this.openInTurn(context, origin, opened.get(origin) ?? null)));
      paused.push(...some.filter((_origin, index) => ended[index] !== true));
      // Hosts that wait for their turn do not keep the others from theirs.
      if (ended.includes(true) && at + some.length < waiting.length) return 'now';
    }
    return paused.length > 0 ? 'in_turn' : 'none';
  }

  /** @returns false where something has to wait for the host's next turn */
  private async openInTurn(context: CrawlContext, origin: string, unread: UnreadSitemaps | null): Promise<boolean> {
    const pauseMs = this.slots.knownPauseMs(hostOf(new URL(origin)));
    if (pauseMs > 0 && pauseMs <= MAX_PAUSE_MS) return false;
    try {
      // Its pages fail unasked where that is too long for a crawl.
      return await (pauseMs > 0 ? this.opened(context, origin, [], null) : this.open(context, origin, unread));
    } catch (error) {
      if (error instanceof HostPaused) return false;
      throw error;
    }
  }

  private async open(context: CrawlContext, origin: string, earlier: UnreadSitemaps | null): Promise<boolean> {
    const rules = await context.rulesOf(origin);
    const found: FoundPage[] = [];
    let unread: UnreadSitemaps | null = null;
    if (rules.closed === null && !context.full) {
      const isWanted = (url: URL): boolean => rules.allows(url) && context.scope.pageAt(url.href) !== null;
      const request = { origin, sitemaps: rules.sitemaps, unread: earlier, maxUrls: context.budget, isWanted };
      const listed = await this.sitemaps.pagesOf(request, context.signal);
      ({ unread } = listed);
      for (const url of listed.pages) {
        const page = context.scope.pageAt(url);
        if (page) found.push({ ...page, depth: 1 });
      }
    }
    return this.opened(context, origin, found, unread);
  }

  /** @returns whether nothing is left of its sitemaps */
  private async opened(context: CrawlContext, origin: string, found: readonly FoundPage[], unread: UnreadSitemaps | null): Promise<boolean> {
    await this.add(context, found, (transaction) => this.pages.openOrigin(transaction, context.crawl, origin, unread));
    return unread === null;
  }

  private async add(
    context: CrawlContext,
    found: readonly FoundPage[],
    before: (transaction: Parameters<Parameters<Database['transaction']>[0]>[0]) => Promise<void>,
  ): Promise<void> {
    const unknown = context.unknownOf(found);
    const added = await this.database.transaction(async (transaction) => {
      if (!(await this.pages.lock(transaction, context.crawl))) throw new CrawlSuperseded();
      await before(transaction);
      const locked = await this.pages.lock(transaction, context.crawl);
      if (!locked) throw new CrawlSuperseded();
      return this.pages.add(transaction, context.crawl, unknown, locked, context.claim);
    });
    context.remember(unknown);
    context.full ||= added.budgetReached;
  }
}
