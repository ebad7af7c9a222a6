import { CrawlScope } from '../domain/crawl-scope.js';
import type { FoundPage } from '../persistence/crawl-pages.repository.js';
import type { CurrentCrawl } from '../persistence/website.repository.js';
import { MAX_URL_CHARACTERS } from '../limits.js';

/** The crawl is not the current one any more, or its agent is gone: nothing of it may be stored. */
export class CrawlSuperseded extends Error {}

/** What one slice of a host's work knows of one of the crawls. */
export class CrawlContext {
  readonly scope: CrawlScope;
  /** No page can be added any more; links need not be looked at. */
  full: boolean;
  /** Chunks were stored for which no vectors have been asked. */
  hasNewChunks = false;
  /** Pages were added to the crawl since it was last asked. */
  private hasAdded = false;
  private readonly known = new Set<string>();
  private readonly superseded = new AbortController();

  constructor(
    readonly crawl: CurrentCrawl,
    /** The budget, in pages. */
    readonly budget: number,
    /** Of the lease of the host. */
    readonly holder: string,
    readonly origin: string,
    /** Keys of the blocks that are boilerplate on the origin's pages; null while its sample is not complete. */
    public repeated: ReadonlySet<string> | null,
    private readonly sliceSignal: AbortSignal,
  ) {
    this.scope = new CrawlScope(crawl.roots, MAX_URL_CHARACTERS);
    this.full = crawl.budgetReached;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.sliceSignal, this.superseded.signal]);
  }

  get isOver(): boolean {
    return this.superseded.signal.aborted;
  }

  end(reason: CrawlSuperseded): void {
    this.superseded.abort(reason);
  }

  /** Those that this slice has not seen stored yet, each once. */
  unknownOf(pages: readonly FoundPage[]): FoundPage[] {
    const unknown = new Map<string, FoundPage>();
    for (const page of pages) {
      const before = unknown.get(page.url);
      if (page.claimed ? before?.claimed !== true : !before && !this.known.has(page.url)) unknown.set(page.url, page);
    }
    return [...unknown.values()];
  }

  /** They are stored. */
  remember(pages: readonly FoundPage[], { added, full }: { readonly added: number; readonly full: boolean }): void {
    for (const { url } of pages) this.known.add(url);
    this.hasAdded ||= added > 0;
    this.full ||= full;
  }

  takeAdded(): boolean {
    const had = this.hasAdded;
    this.hasAdded = false;
    return had;
  }
}
