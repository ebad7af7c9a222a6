import type { Clock } from '../../../platform/clock/index.js';
import { CrawlScope } from '../domain/crawl-scope.js';
import type { HostLease } from '../domain/host-lease.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import { MAX_PAUSE_MS, MAX_URL_CHARACTERS, SLICE_MS } from '../limits.js';
import type { FoundPage } from '../persistence/crawl-pages.repository.js';
import type { CrawlKey, CurrentCrawl } from '../persistence/website.repository.js';

/** What one slice of a host's work knows of one of the crawls. */
export class CrawlContext {
  readonly scope: CrawlScope;
  /** Aborted with the slice, and once the crawl is superseded. */
  readonly signal: AbortSignal;
  /** No page can be added any more; links need not be looked at. */
  full: boolean;
  /** Chunks were stored for which no vectors have been asked. */
  hasNewChunks = false;
  private readonly known = new Set<string>();
  private readonly superseded = new AbortController();

  constructor(
    readonly crawl: CurrentCrawl,
    /** The budget, in pages. */
    readonly budget: number,
    /** Keys of the blocks that are boilerplate on the origin's pages; null while its sample is not complete. */
    public repeated: ReadonlySet<string> | null,
    readonly slice: HostSlice,
  ) {
    this.scope = new CrawlScope(crawl.roots, MAX_URL_CHARACTERS);
    this.signal = AbortSignal.any([slice.signal, this.superseded.signal]);
    this.full = crawl.budgetReached;
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
  remember(pages: readonly FoundPage[], full: boolean): void {
    for (const { url } of pages) this.known.add(url);
    this.full ||= full;
  }
}

/** Some seconds in which one process has a host: which crawls it works for, and whether it goes on. */
export class HostSlice {
  readonly crawls = new Map<string, Promise<CrawlContext | null>>();
  /** The host wants to be left alone for longer than a crawl waits: its pages fail unasked. */
  readonly isAway: boolean;
  /** Least time between two requests. */
  crawlDelayMs = 0;
  private readonly began: number;

  constructor(
    readonly origin: string,
    readonly host: HostLease,
    readonly signal: AbortSignal,
    private readonly clock: Clock,
    private readonly load: (key: CrawlKey, slice: HostSlice) => Promise<CrawlContext | null>,
  ) {
    this.began = clock.monotonic();
    this.isAway = host.pauseMs > MAX_PAUSE_MS;
  }

  get isOver(): boolean {
    return (
      this.signal.aborted || (!this.isAway && this.host.pauseMs > 0) || this.clock.monotonic() - this.began >= SLICE_MS
    );
  }

  /** Does some work for a crawl; none, or no more of it, where the crawl is not the current one any more. */
  async workFor(key: CrawlKey, work: (context: CrawlContext) => Promise<void>): Promise<void> {
    const loading = this.crawls.get(key.crawlId) ?? this.load(key, this);
    this.crawls.set(key.crawlId, loading);
    const context = await loading;
    if (!context || context.isOver) return;
    try {
      await work(context);
    } catch (error) {
      if (error instanceof CrawlSuperseded) context.end(error);
      // What was under way for the crawl breaks off with it.
      else if (!context.signal.aborted || this.signal.aborted) throw error;
    }
  }
}
