import { z } from 'zod';
import type { Stored } from '../../../platform/stored-json/index.js';

const sitemapFile = z.object({
  url: z.string(),
  /** Number of indexes above it. */
  depth: z.number(),
  /** How often another worker had the lease of its host. */
  busy: z.number().default(0),
});
export type SitemapFile = Stored<typeof sitemapFile>;

/** The sitemaps of a site that the crawl has not read yet, for the next slice. */
export const unreadSitemaps = z.object({
  waiting: z.array(sitemapFile),
  /** Addresses of all files that were found so far. */
  known: z.array(z.string()),
  /** Time that reading the others took. */
  spentMs: z.number().default(0),
});
export type UnreadSitemaps = Stored<typeof unreadSitemaps>;
