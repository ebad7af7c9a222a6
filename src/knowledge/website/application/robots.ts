/** What a host's robots.txt says to this service (RFC 9309). */
export interface RobotsRules {
  allows(url: URL): boolean;
  /** `crawl-delay`, at most 30 s; 0 where there is none. */
  readonly crawlDelayMs: number;
  /** Absolute URLs, as they are written there. */
  readonly sitemaps: readonly string[];
  /** The server did not tell its rules (5xx, no answer), so nothing may be fetched: why, in public words. */
  readonly closed: string | null;
}

/** Reads and remembers robots.txt files. */
export abstract class Robots {
  /**
   * @param origin `https://example.com`
   * @param since none older than this is answered; without it one that is some minutes old may be
   * @throws the reason of `signal` when it aborts
   */
  abstract rulesOf(origin: string, signal: AbortSignal, since?: Date | null): Promise<RobotsRules>;
}
