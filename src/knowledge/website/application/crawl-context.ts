import { newId } from '../../../platform/ids/index.js';
import type { Robots, RobotsRules } from './robots.js';
import { CrawlScope } from '../domain/crawl-scope.js';
import type { Claim, FoundPage } from '../persistence/crawl-pages.repository.js';
import type { CurrentCrawl } from '../persistence/website.repository.js';
import { MAX_URL_CHARACTERS } from '../limits.js';

/** The crawl is not the current one any more, or its agent is gone: nothing of it may be stored. */
export class CrawlSuperseded extends Error {}

/** What one step of a crawl works with. */
export class CrawlContext {
  readonly scope: CrawlScope;
  readonly claim: Claim;
  /** No page can be added any more; links need not be looked at. */
  full = false;
  /** Chunks were stored for which no vectors have been asked. */
  hasNewChunks = false;
  private readonly rules = new Map<string, Promise<RobotsRules>>();
  private readonly known = new Set<string>();

  constructor(
    readonly crawl: CurrentCrawl,
    /** The budget, in pages. */
    readonly budget: number,
    job: string,
    private readonly robots: Robots,
    readonly signal: AbortSignal,
  ) {
    this.scope = new CrawlScope(crawl.roots, MAX_URL_CHARACTERS);
    this.claim = { id: newId(), job };
    this.full = crawl.budgetReached;
  }

  /** Once a step for each host, and never older than the crawl: who changes a file and has the site crawled expects it to count. */
  rulesOf(origin: string): Promise<RobotsRules> {
    const known = this.rules.get(origin);
    if (known) return known;
    const asked = this.robots.rulesOf(origin, this.signal, this.crawl.startedAt);
    this.rules.set(origin, asked);
    return asked;
  }

  /** Those that this step has not seen stored yet, each once. */
  unknownOf(pages: readonly FoundPage[]): FoundPage[] {
    const unknown = new Map<string, FoundPage>();
    for (const page of pages) {
      const before = unknown.get(page.url);
      if (page.claimed ? before?.claimed !== true : !before && !this.known.has(page.url)) unknown.set(page.url, page);
    }
    return [...unknown.values()];
  }

  remember(pages: readonly FoundPage[]): void {
    for (const { url } of pages) this.known.add(url);
  }
}
