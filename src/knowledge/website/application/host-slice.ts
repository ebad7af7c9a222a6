import type { Clock } from '../../../platform/clock/index.js';
import { CrawlScope } from '../domain/crawl-scope.js';
import type { HostLease } from '../domain/host-lease.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import { MAX_PAUSE_MS, SLICE_MS } from '../limits.js';
import type { FoundPage } from '../persistence/crawl-pages.repository.js';
import type { CrawlKey, CurrentCrawl } from '../persistence/website.repository.js';

/** The state of one crawl during one slice of a host's work. */
export class CrawlContext {
  readonly scope: CrawlScope;
  /** Aborted with the slice, and when another crawl replaces this one. */
  readonly signal: AbortSignal;
  /** The budget is used up, so links are not read. */
  full: boolean;
  /** The slice stored chunks whose embeddings are not enqueued yet. */
  hasNewChunks = false;
  private readonly stored = new Set<string>();
  private readonly superseded = new AbortController();

  constructor(
    readonly crawl: CurrentCrawl,
    /** Most pages that the crawl fetches. */
    readonly budget: number,
    /** Keys of the blocks that are boilerplate on the origin's pages; null until its first pages were compared. */
    public repeated: ReadonlySet<string> | null,
    readonly slice: HostSlice,
  ) {
    this.scope = new CrawlScope(crawl.roots);
    this.signal = AbortSignal.any([slice.signal, this.superseded.signal]);
    this.full = crawl.budgetReached;
  }

  get isSuperseded(): boolean {
    return this.superseded.signal.aborted;
  }

  supersede(reason: CrawlSuperseded): void {
    this.superseded.abort(reason);
  }

  /** The pages that this slice has not stored yet, each once. */
  withoutStored(pages: readonly FoundPage[]): FoundPage[] {
    const others = new Map<string, FoundPage>();
    for (const page of pages) {
      const before = others.get(page.url);
      if (page.claimed ? before?.claimed !== true : !before && !this.stored.has(page.url)) others.set(page.url, page);
    }
    return [...others.values()];
  }

  markStored(pages: readonly FoundPage[], full: boolean): void {
    for (const { url } of pages) this.stored.add(url);
    this.full ||= full;
  }
}

/** Waits for all of them, even when one fails, so that no work of a slice is left running at its end. @throws the first failure */
export async function settleAll(parts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(parts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Some seconds in which one process works on a host for all crawls. */
export class HostSlice {
  readonly crawls = new Map<string, Promise<CrawlContext | null>>();
  /** The host asks for a longer pause than a crawl waits for: its pages fail without a request. */
  readonly isPausedTooLong: boolean;
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
    this.isPausedTooLong = host.pauseMs > MAX_PAUSE_MS;
  }

  get isOver(): boolean {
    return (
      this.signal.aborted ||
      (!this.isPausedTooLong && this.host.pauseMs > 0) ||
      this.clock.monotonic() - this.began >= SLICE_MS
    );
  }

  /** Runs `work` for a crawl, unless another crawl has replaced it; stops it when another one does. */
  async workFor(key: CrawlKey, work: (context: CrawlContext) => Promise<void>): Promise<void> {
    const loading = this.crawls.get(key.crawlId) ?? this.load(key, this);
    this.crawls.set(key.crawlId, loading);
    const context = await loading;
    if (!context || context.isSuperseded) return;
    try {
      await work(context);
    } catch (error) {
      if (error instanceof CrawlSuperseded) context.supersede(error);
      // Other work for the crawl fails when its signal aborts; that is no failure of the slice.
      else if (!context.signal.aborted || this.signal.aborted) throw error;
    }
  }
}
