import type { SyncState } from '../../index/domain/sync-status.js';

export type PageOutcome = 'indexed' | 'failed' | 'skipped';

/** What became of the pages of one site in a crawl that has ended. */
export interface SiteTally {
  readonly rootUrl: string;
  readonly indexed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Of the root page, or of the picked page that was found first; null where there was none, or it was indexed. */
  readonly firstReason: string | null;
  /** One of its pages that failed. */
  readonly failedExample: { readonly url: string; readonly reason: string } | null;
}

export interface CrawlResult {
  readonly state: Extract<SyncState, 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED'>;
  readonly lastError: string | null;
}

const NAMED_SITES = 3;

/** @param budget of pages, where it ended the crawl; null where it did not */
export function crawlResult(sites: readonly SiteTally[], budget: number | null): CrawlResult {
  const empty = sites.filter(({ indexed }) => indexed === 0);
  const failedPages = sites.reduce((sum, { failed }) => sum + failed, 0);
  const isFailed = empty.length === sites.length || empty.some(({ failed }) => failed > 0);
  if (isFailed) return { state: 'FAILED', lastError: emptySites(empty) };
  const complaints = [
    ...(failedPages > 0 ? [failures(failedPages, sites)] : []),
    ...(budget === null ? [] : [`The crawl ended at its limit of ${budget} pages; the sites have more.`]),
  ];
  if (complaints.length > 0) return { state: 'PARTIAL_SUCCESS', lastError: complaints.join(' ') };
  return { state: 'SUCCESS', lastError: null };
}

function emptySites(empty: readonly SiteTally[]): string {
  const named = empty.slice(0, NAMED_SITES).map(({ rootUrl, firstReason }) => `${rootUrl}: ${firstReason ?? 'No page was found under the rules of the site.'}`);
  const more = empty.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more sites have no page either.`] : [])].join(' ');
}

function failures(count: number, sites: readonly SiteTally[]): string {
  const example = sites.find(({ failedExample }) => failedExample !== null)?.failedExample;
  const pages = count === 1 ? '1 page failed' : `${count} pages failed`;
  return example ? `${pages}, such as ${example.url}: ${example.reason}` : `${pages}.`;
}
