export interface SitemapRequest {
  /** `https://example.com` */
  readonly origin: string;
  /** As robots.txt names them; `/sitemap.xml` is tried where it names none. */
  readonly sitemaps: readonly string[];
  /** At most this many URLs are answered. */
  readonly maxUrls: number;
  isWanted(url: URL): boolean;
}

/** Reads sitemaps and indexes of them, compressed or not, in bounded time and memory. */
export abstract class Sitemaps {
  /** Wanted pages, each once, in the order in which they are listed. What cannot be read is left out. @throws HostPaused where it is not the host's turn; the reason of `signal` when it aborts */
  abstract pagesOf(request: SitemapRequest, signal: AbortSignal): Promise<readonly string[]>;
}
