import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import {
  Database,
  inBatches,
  type SqlExecutor,
  storableText,
  toDate,
  type Transaction,
} from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import type { PageOutcome } from '../domain/crawl-result.js';
import type { PageContent } from '../domain/held-page.js';
import {
  HOST_LEASE_MS,
  MAX_KEPT_LINK_CHARACTERS,
  MAX_REASON_CHARACTERS,
  SAMPLE_PAGES,
  SAMPLE_VISITS,
} from '../limits.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import * as sql from './crawl-pages.sql.js';
import { HELD_PAGE } from './website.entities.js';
import type { CrawlKey } from './website.repository.js';

export interface ClaimedPage extends ScopedPage {
  readonly id: string;
  /** Number of links from the page that the crawl began with. */
  readonly depth: number;
  /** Visits in this crawl, including this one. */
  readonly attempts: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Links that were found when it was last read; null where they were not stored. */
  readonly links: readonly string[] | null;
  /** Null while it is not in the index. */
  readonly documentId: string | null;
}

export interface FoundPage extends ScopedPage {
  readonly depth: number;
  /** Claimed by the worker that found it, which has its content already. */
  readonly claimed?: boolean;
  /** Why it must not be fetched: it is skipped at once, and does not count against the budget. */
  readonly disallowed?: string;
}

/** What a visit changes in the page's row, before its document is stored. */
export interface VisitNote {
  readonly id: string;
  /** `pending`: it is tried again at `availableAt`. `fetching`: its document is stored next, unless another page has the same text. */
  readonly state: 'pending' | 'fetching' | 'done';
  readonly outcome: PageOutcome | null;
  readonly reason: string | null;
  /** The server answered 404 or 410. */
  readonly isMissing?: boolean;
  /** Validators and links are dropped, so that the next crawl fetches it as a new page. */
  readonly forget?: boolean;
  /** The address that it names as canonical, and the address on another origin that it redirects to. */
  readonly copyOf?: string | null;
  readonly movedTo?: string;
  /** In hex. */
  readonly textDigest?: string;
  readonly held?: PageContent;
  readonly availableAt?: Date;
}

export interface LockedCrawl {
  /** How many pages may still be added. */
  readonly room: number;
  readonly budgetReached: boolean;
}

export interface RecordedVisits {
  /** Ids of the pages that were added as claimed, by address. */
  readonly claimed: ReadonlyMap<string, string>;
  /** Ids of visited pages whose document is stored next, or that are held. */
  readonly kept: ReadonlySet<string>;
  /** The budget is used up, and some pages were not added. */
  readonly full: boolean;
}

type PageRow = Omit<ClaimedPage, 'links'> & CrawlKey & { readonly links: string | null };

/** The pages of crawls. The next crawl takes the rows over, with what is known of each page. */
@Injectable()
export class CrawlPages {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** No other crawl can replace this one until the transaction ends. @throws CrawlSuperseded where one already has */
  async lock(transaction: Transaction, crawl: CrawlKey): Promise<LockedCrawl> {
    const [row] = await sql.LOCK_CRAWL.run<{ budget: number | null; found: number; budgetReached: boolean }>(
      transaction,
      crawl,
    );
    if (!row) throw new CrawlSuperseded();
    return { room: Math.max((row.budget ?? 0) - row.found, 0), budgetReached: row.budgetReached };
  }

  /**
   * Adds pages that the crawl does not have yet, in this order, up to its budget, and stores the outcomes of visits. The
   * outcome of a page that `holder` no longer has claimed is ignored.
   * @throws CrawlSuperseded where another crawl has replaced this one
   */
  async record(
    executor: SqlExecutor,
    crawl: CrawlKey,
    holder: string,
    found: readonly FoundPage[],
    visits: readonly VisitNote[],
  ): Promise<RecordedVisits> {
    const claimed = new Map<string, string>();
    const kept = new Set<string>();
    let full = false;
    const rows = found.map((page, position) => ({ ...page, id: newId(), digest: digestOf(page.url), position }));
    // About what a row takes as JSON: its names and ids are some 300 bytes.
    const batches = [...inBatches(rows, ({ url, origin }) => url.length + origin.length + 300)];
    for (const [index, pages] of (batches.length > 0 ? batches : [[]]).entries()) {
      const isLast = index >= batches.length - 1;
      const [result] = await sql.RECORD.run<{ full: boolean; claimed: string | null; kept: string | null }>(executor, {
        ...crawl,
        holder,
        found: pages,
        visits: isLast ? visits.map(toVisitRow) : [],
        now: this.clock.now(),
        claimedUntil: this.claimedUntil(),
      });
      if (!result) throw new CrawlSuperseded();
      full ||= result.full;
      for (const { id, url } of JSON.parse(result.claimed ?? '[]') as { id: string; url: string }[])
        claimed.set(url, id);
      for (const id of JSON.parse(result.kept ?? '[]') as string[]) kept.add(id);
    }
    return { claimed, kept, full };
  }

  /** Claims pages of an origin that are due, of any crawl, for the worker that has the host's lease. */
  async claim(origin: string, holder: string, limit: number): Promise<(ClaimedPage & CrawlKey)[]> {
    const rows = await sql.CLAIM.run<PageRow>(this.database, {
      origin,
      holder,
      limit,
      sample: SAMPLE_PAGES,
      now: this.clock.now(),
      claimedUntil: this.claimedUntil(),
    });
    return rows.map(toPage).sort(byDepth);
  }

  /** Makes pages available again that workers without the host's lease have claimed. */
  async reclaim(origin: string, holder: string): Promise<void> {
    await sql.RECLAIM.run(this.database, { origin, holder });
  }

  /** Makes pages available again that this worker has claimed and not visited. */
  async release(transaction: Transaction, holder: string): Promise<void> {
    await sql.RELEASE.run(transaction, { holder });
  }

  /** When the next page of an origin can be visited, or its next sitemap read; null where none is left. */
  async nextDue(transaction: Transaction, origin: string): Promise<Date | null> {
    const [row] = await sql.NEXT_DUE.run<{ due: string | null }>(transaction, { origin });
    return typeof row?.due === 'string' ? toDate(row.due) : null;
  }

  /** Of these crawls, those of which every page has an outcome. */
  finished(transaction: Transaction, crawlIds: readonly string[]): Promise<CrawlKey[]> {
    return crawlIds.length === 0 ? Promise.resolve([]) : sql.FINISHED.run<CrawlKey>(transaction, { crawlIds });
  }

  /** Crawls that hold enough pages of an origin to compare them, with the boilerplate that the crawl before found. */
  completeSamples(origin: string): Promise<(CrawlKey & { readonly earlier: string | null })[]> {
    return sql.COMPLETE_SAMPLES.run(this.database, { origin, sample: SAMPLE_PAGES, visited: SAMPLE_VISITS });
  }

  /** Claims the held pages of a crawl's origin. Pages with fewer links from the crawl's beginning come first. */
  async takeHeld(
    crawl: CrawlKey,
    origin: string,
    holder: string,
  ): Promise<{ page: ClaimedPage; content: PageContent }[]> {
    const rows = await sql.TAKE_HELD.run<PageRow & { held: string }>(this.database, {
      ...crawl,
      origin,
      holder,
      claimedUntil: this.claimedUntil(),
    });
    return rows
      .map((row) => ({ page: toPage(row), content: HELD_PAGE.readText(row.held, row.id) }))
      .sort((left, right) => byDepth(left.page, right.page));
  }

  /**
   * In the transaction that stores the page's document.
   * @returns false where it must not be stored: another crawl has begun, the agent was deleted, or another worker has claimed the page
   */
  async markIndexed(
    transaction: Transaction,
    crawl: CrawlKey,
    holder: string,
    page: { readonly id: string; readonly documentId: string; readonly reason: string | null } & Pick<
      PageContent,
      'etag' | 'lastModified' | 'links'
    >,
  ): Promise<boolean> {
    const links = page.links.join('\n');
    // Without all of its links, an unchanged page would lose the pages that it leads to. Without validators it is never "unchanged".
    const fits = links.length <= MAX_KEPT_LINK_CHARACTERS;
    const rows = await sql.MARK_INDEXED.run(transaction, {
      ...crawl,
      ...{ holder, id: page.id, documentId: page.documentId, reason: page.reason },
      etag: fits ? storable(page.etag) : null,
      lastModified: fits ? storable(page.lastModified) : null,
      links: fits ? links : null,
    });
    return rows.length > 0;
  }

  /**
   * For a crawl whose pages all have an outcome, under its lock: of the indexed pages with the same text one is kept. Where
   * none of the pages with some text is indexed, one becomes pending again.
   */
  async resolveCopies(transaction: Transaction, crawl: CrawlKey): Promise<void> {
    await sql.SKIP_COPIES.run(transaction, crawl);
    await sql.RETURN_COPIES.run(transaction, { ...crawl, now: this.clock.now() });
  }

  /**
   * Documents of pages that the finished crawl skipped, found missing (404, 410) or did not visit. The pages' validators are
   * cleared. The transaction holds the crawl's lock.
   * @param keptRoots sites of which only visited pages lose their documents
   */
  async takeDocuments(
    transaction: Transaction,
    crawl: CrawlKey,
    keptRoots: readonly string[],
    limit: number,
  ): Promise<string[]> {
    return documentIds(await sql.TAKE_DOCUMENTS.run(transaction, { ...crawl, keptRoots, limit }));
  }

  /** Documents of pages whose site the agent no longer has; before the crawl begins, and otherwise as `takeDocuments`. */
  async takeDocumentsOfRemovedSites(transaction: Transaction, crawl: CrawlKey, limit: number): Promise<string[]> {
    return documentIds(await sql.TAKE_DOCUMENTS_OF_REMOVED_SITES.run(transaction, { ...crawl, limit }));
  }

  async clearDocuments(crawl: CrawlKey, documentIds: readonly string[]): Promise<void> {
    await sql.CLEAR_DOCUMENTS.run(this.database, { ...crawl, documentIds });
  }

  /** Indexed pages that the crawl has not visited, of all sites except `exceptRoots`. */
  unvisited(
    transaction: Transaction,
    crawl: CrawlKey,
    exceptRoots: readonly string[],
    limit: number,
  ): Promise<{ url: string; depth: number }[]> {
    return sql.UNVISITED.run(transaction, { ...crawl, keptRoots: exceptRoots, limit });
  }

  /** Deletes pages that the crawl has not visited and that have no document. The transaction holds the crawl's lock. @returns how many */
  async deleteUnvisited(
    transaction: Transaction,
    crawl: CrawlKey,
    keptRoots: readonly string[],
    limit: number,
  ): Promise<number> {
    return (await sql.DELETE_UNVISITED.run(transaction, { ...crawl, keptRoots, limit })).length;
  }

  /** Read only by workers of the former release. */
  private claimedUntil(): Date {
    return new Date(this.clock.now().getTime() + HOST_LEASE_MS);
  }
}

function toPage(row: PageRow): ClaimedPage & CrawlKey {
  return { ...row, links: row.links === null ? null : row.links === '' ? [] : row.links.split('\n') };
}

function byDepth(left: ClaimedPage, right: ClaimedPage): number {
  return left.depth - right.depth || (left.url < right.url ? -1 : 1);
}

function toVisitRow({ copyOf, movedTo, reason, ...note }: VisitNote) {
  return {
    ...note,
    copyOf: typeof copyOf === 'string' ? digestOf(copyOf) : null,
    movedTo: movedTo === undefined ? null : digestOf(movedTo),
    reason: storable(reason)?.slice(0, MAX_REASON_CHARACTERS) ?? null,
  };
}

function storable(text: string | null): string | null {
  return text === null ? null : storableText(text);
}

function digestOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}

function documentIds(rows: readonly { readonly documentId: string }[]): string[] {
  return rows.map(({ documentId }) => documentId);
}
