import type { SyncState } from '../../index/domain/sync-status.js';

export type PageOutcome = 'indexed' | 'failed' | 'skipped';

export interface TalliedPage {
  readonly url: string;
  readonly reason: string | null;
  /** Links from where the crawl began. */
  readonly depth: number;
}

/** What became of the pages of one site in a crawl that has ended. */
export interface SiteTally {
  readonly rootUrl: string;
  readonly indexed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The one that is nearest to where the crawl began, of equally near ones the first by address. */
  readonly firstFailed: TalliedPage | null;
  readonly firstSkipped: TalliedPage | null;
  /** Its first page redirects to another origin. */
  readonly hasLeft: boolean;
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
  const isFailed = empty.length === sites.length || empty.some(({ failed, hasLeft }) => failed > 0 || hasLeft);
  if (isFailed) return { state: 'FAILED', lastError: emptySites(empty) };
  const complaints = [
    ...(failedPages > 0 ? [failures(failedPages, sites)] : []),
    ...(budget === null ? [] : [`The crawl ended at its limit of ${budget} pages; the sites have more.`]),
  ];
  if (complaints.length > 0) return { state: 'PARTIAL_SUCCESS', lastError: complaints.join(' ') };
  return { state: 'SUCCESS', lastError: null };
}

function emptySites(empty: readonly SiteTally[]): string {
  const named = empty.slice(0, NAMED_SITES).map(emptySite);
  const more = empty.length - named.length;
  const others =
    more === 1 ? ['One more site has no page either.'] : more > 1 ? [`${more} more sites have no page either.`] : [];
  return [...named, ...others].join(' ');
}

function emptySite({ rootUrl, failed, firstFailed, firstSkipped }: SiteTally): string {
  const first = firstFailed ?? firstSkipped;
  if (!first) return `${rootUrl}: No page was found under the rules of the site.`;
  return `${told(first)}${failed > 1 ? ` In all ${failed} pages failed.` : ''}`;
}

function failures(count: number, sites: readonly SiteTally[]): string {
  const failed = sites.flatMap(({ firstFailed }) => (firstFailed ? [firstFailed] : []));
  const [first] = failed.sort((left, right) => left.depth - right.depth);
  const pages = count === 1 ? '1 page failed' : `${count} pages failed`;
  return first ? `${pages}, such as ${told(first)}` : `${pages}.`;
}

function told({ url, reason }: TalliedPage): string {
  return `${url}: ${reason ?? 'It failed.'}`;
}
