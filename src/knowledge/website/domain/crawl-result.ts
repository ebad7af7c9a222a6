import type { SyncState } from '../../index/domain/sync-status.js';

export type PageOutcome = 'indexed' | 'failed' | 'skipped';

export interface TalliedPage {
  readonly url: string;
  readonly reason: string | null;
  /** Number of links from the page that the crawl began with. */
  readonly depth: number;
}

/** The outcomes of one site's pages in a finished crawl. */
export interface SiteTally {
  readonly rootUrl: string;
  readonly indexed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The one with the lowest depth; of equal depth the first by address. */
  readonly firstFailed: TalliedPage | null;
  readonly firstSkipped: TalliedPage | null;
  /** Its first page redirects to another origin. */
  readonly isRedirectedAway: boolean;
}

export interface CrawlResult {
  readonly state: Extract<SyncState, 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED'>;
  readonly lastError: string | null;
}

const NAMED_SITES = 3;

/** @param budget the limit of pages, if it ended the crawl; null otherwise */
export function crawlResult(sites: readonly SiteTally[], budget: number | null): CrawlResult {
  const empty = sites.filter(({ indexed }) => indexed === 0);
  const failedPages = sites.reduce((sum, { failed }) => sum + failed, 0);
  const isFailed =
    empty.length === sites.length || empty.some(({ failed, isRedirectedAway }) => failed > 0 || isRedirectedAway);
  if (isFailed) return { state: 'FAILED', lastError: describeEmptySites(empty) };
  const problems = [
    ...(failedPages > 0 ? [describeFailures(failedPages, sites)] : []),
    ...(budget === null ? [] : [`The crawl ended at its limit of ${budget} pages; the sites have more.`]),
  ];
  if (problems.length > 0) return { state: 'PARTIAL_SUCCESS', lastError: problems.join(' ') };
  return { state: 'SUCCESS', lastError: null };
}

function describeEmptySites(empty: readonly SiteTally[]): string {
  const named = empty.slice(0, NAMED_SITES).map(describeEmptySite);
  const more = empty.length - named.length;
  const others =
    more === 1 ? ['One more site has no page either.'] : more > 1 ? [`${more} more sites have no page either.`] : [];
  return [...named, ...others].join(' ');
}

function describeEmptySite({ rootUrl, failed, firstFailed, firstSkipped }: SiteTally): string {
  const first = firstFailed ?? firstSkipped;
  if (!first) return `${rootUrl}: No page was found under the rules of the site.`;
  return `${withReason(first)}${failed > 1 ? ` In total ${failed} pages failed.` : ''}`;
}

function describeFailures(count: number, sites: readonly SiteTally[]): string {
  const failed = sites.flatMap(({ firstFailed }) => (firstFailed ? [firstFailed] : []));
  const [first] = failed.sort((left, right) => left.depth - right.depth);
  const pages = count === 1 ? '1 page failed' : `${count} pages failed`;
  return first ? `${pages}, such as ${withReason(first)}` : `${pages}.`;
}

function withReason({ url, reason }: TalliedPage): string {
  return `${url}: ${reason ?? 'It failed.'}`;
}
