import type { ClaimedPage } from '../persistence/crawl-pages.repository.js';

/** Hands out the pages that were claimed, and has more claimed when they run out. */
export class PageQueue<Page extends ClaimedPage> {
  private readonly waiting: Page[] = [];
  private underWay = 0;
  private claiming: Promise<void> | undefined;
  /** Nothing more was due when it was last asked for. */
  private exhausted = false;
  private wake: (() => void)[] = [];

  constructor(
    private readonly claimMore: () => Promise<readonly Page[]>,
    /** No page is begun any more. */
    private readonly isOver: () => boolean,
  ) {}

  /** Null once there is none left. Each page is given back with `done`. */
  async next(): Promise<Page | null> {
    for (;;) {
      if (this.isOver()) return null;
      const page = this.waiting.shift();
      if (page) {
        this.underWay += 1;
        return page;
      }
      if (!this.exhausted) await this.claim();
      else if (this.underWay === 0) return null;
      else await new Promise<void>((resolve) => this.wake.push(resolve));
    }
  }

  /** @param hasLed there may be more to claim: what the page led to is stored */
  done(hasLed: boolean): void {
    this.underWay -= 1;
    if (hasLed || this.underWay === 0) this.exhausted = false;
    for (const resolve of this.wake.splice(0)) resolve();
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
}
