import type { Clock } from '../../../platform/clock/index.js';
import { MAX_PAUSE_MS, SLICE_MS } from '../limits.js';
import type { CrawlKey } from '../persistence/website.repository.js';
import type { CrawlContext } from './crawl-context.js';
import type { HostLease } from './host-lease.js';
import type { Visit } from './visit-page.js';
import { VisitRecorder } from './visit-recorder.js';

/** What a slice needs of a crawl. */
export interface SlicedCrawl {
  readonly context: CrawlContext;
  readonly recorder: VisitRecorder;
}

/** Some seconds in which one process has a host: which crawls it works for, and whether it goes on. */
export class HostSlice {
  readonly crawls = new Map<string, Promise<SlicedCrawl | null>>();
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
    private readonly record: (context: CrawlContext, visits: readonly Visit[]) => Promise<void>,
  ) {
    this.began = clock.monotonic();
    this.isAway = host.pauseMs > MAX_PAUSE_MS;
  }

  get isOver(): boolean {
    return this.signal.aborted || (!this.isAway && this.host.pauseMs > 0) || this.clock.monotonic() - this.began >= SLICE_MS;
  }

  /** Null where the crawl is not the current one any more. */
  crawl(key: CrawlKey): Promise<SlicedCrawl | null> {
    const known = this.crawls.get(key.crawlId);
    if (known) return known;
    const loaded = this.load(key, this).then((context) => context && { context, recorder: new VisitRecorder((visits) => this.record(context, visits)) });
    this.crawls.set(key.crawlId, loaded);
    return loaded;
  }
}
