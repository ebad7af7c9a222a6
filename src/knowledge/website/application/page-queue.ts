import { SLOTS_PER_HOST } from '../crawl-limits.js';
import type { ClaimedPage } from '../persistence/crawl-pages.repository.js';

/**
 * Which page a step visits next: in the order of the claims, and of one host no more than it has slots, since a page that
 * waits for one keeps pages of other hosts from their turn.
 */
export class PageQueue {
  private waiting: ClaimedPage[] = [];
  private readonly fetching = new Map<string, number>();
  private underWay = 0;
  private claiming: Promise<void> | undefined;
  /** Nothing more was due when it was last asked for. */
  private exhausted = false;
  private wake: (() => void)[] = [];

  constructor(
    private readonly claimMore: () => Promise<readonly ClaimedPage[]>,
    /** No page is begun any more. */
    private readonly isOver: () => boolean,
  ) {}

  /** Null once there is none for this step. Each page is given back with `fetched` and `done`. */
  async next(): Promise<ClaimedPage | null> {
    for (;;) {
      if (this.isOver()) return null;
      const page = this.take();
      if (page) return page;
      if (this.waiting.length === 0 && !this.exhausted) await this.claim();
      else if (this.underWay === 0) return null;
      else await new Promise<void>((resolve) => this.wake.push(resolve));
    }
  }

  /** Nothing is asked of the page's host any more. */
  fetched({ origin }: ClaimedPage): void {
    this.fetching.set(origin, (this.fetching.get(origin) ?? 1) - 1);
    this.changed();
  }

  /** What the page led to is stored: there may be more to claim. */
  done(): void {
    this.underWay -= 1;
    this.exhausted = false;
    this.changed();
  }

  /** Claimed pages that nobody began. */
  takeRest(): readonly ClaimedPage[] {
    const rest = this.waiting;
    this.waiting = [];
    return rest;
  }

  private take(): ClaimedPage | null {
    const index = this.waiting.findIndex(({ origin }) => (this.fetching.get(origin) ?? 0) < SLOTS_PER_HOST);
    const [page] = index === -1 ? [] : this.waiting.splice(index, 1);
    if (!page) return null;
    this.fetching.set(page.origin, (this.fetching.get(page.origin) ?? 0) + 1);
    this.underWay += 1;
    return page;
  }

  private claim(): Promise<void> {
    this.claiming ??= this.claimMore()
      .then((pages) => {
        this.exhausted = pages.length === 0;
        this.waiting.push(...pages);
      })
      .finally(() => {
        this.claiming = undefined;
      });
    return this.claiming;
  }

  private changed(): void {
    const waiters = this.wake;
    this.wake = [];
    for (const resolve of waiters) resolve();
  }
}
