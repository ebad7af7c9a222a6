import { z } from 'zod';
import type { Stored } from '../../../platform/stored-json/index.js';

const sitemapFile = z.object({
  url: z.string(),
  /** Indexes above it. */
  depth: z.number(),
});
export type SitemapFile = Stored<typeof sitemapFile>;

/** The sitemaps of a site that the crawl has not read yet, so that a later step can go on. */
export const unreadSitemaps = z.object({
  waiting: z.array(sitemapFile),
  /** Addresses of all files that were named so far. */
  known: z.array(z.string()),
});
export type UnreadSitemaps = Stored<typeof unreadSitemaps>;

export interface SitemapRequest {
  /** `https://example.com` */
  readonly origin: string;
  /** As robots.txt names them; `/sitemap.xml` is tried where it names none. */
  readonly sitemaps: readonly string[];
  /** What an earlier reading left; null for the first one. */
  readonly unread: UnreadSitemaps | null;
  /** At most this many URLs are answered. */
  readonly maxUrls: number;
  isWanted(url: URL): boolean;
}

export interface ListedPages {
  readonly pages: readonly string[];
  /** What is left to be read at the host's next turn; null for nothing. */
  readonly unread: UnreadSitemaps | null;
}

/** Reads sitemaps and indexes of them, compressed or not, in bounded time and memory. */
export abstract class Sitemaps {
  /**
   * Wanted pages, each once, in the order in which they are listed. What cannot be read is left out; of a host that wants
   * pauses one file is read.
   * @throws HostPaused where it is not the host's turn; the reason of `signal` when it aborts
   */
  abstract pagesOf(request: SitemapRequest, signal: AbortSignal): Promise<ListedPages>;
}
