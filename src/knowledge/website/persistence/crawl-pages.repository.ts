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
import { type CrawlKey, crawlKeyOf } from './website.repository.js';

export interface ClaimedPage extends ScopedPage {
  readonly id: string;
  /** Links from where the crawl began. */
  readonly depth: number;
  /** This one included. */
  readonly attempts: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Links of the last time that it was read; null where they are not known. */
  readonly links: readonly string[] | null;
  /** Null while nothing of it is in the index. */
  readonly documentId: string | null;
}

export interface FoundPage extends ScopedPage {
  readonly depth: number;
  /** Claimed by the worker that found it, since its content is at hand. */
  readonly claimed?: boolean;
  /** Why it must not be fetched; it is skipped at once, and takes no room of those that are fetched. */
  readonly disallowed?: string;
}

/** What a visit changes in its page before anything is stored in the index. */
export interface NotedVisit {
  readonly id: string;
  /** `pending`: it is tried again at `availableAt`. `fetching`: its document is stored next, unless another page has its text. */
  readonly state: 'pending' | 'fetching' | 'done';
  readonly outcome: PageOutcome | null;
  readonly reason: string | null;
  readonly gone?: boolean;
  /** The next crawl asks for it as for a new page. */
  readonly forget?: boolean;
  /** Addresses: of the page that it names as canonical, and of the one outside of the site that it redirects to. */
  readonly copyOf?: string | null;
  readonly movedTo?: string;
  /** In hex. */
  readonly textDigest?: string;
  readonly held?: PageContent;
  readonly availableAt?: Date;
}

export interface LockedCrawl {
  /** Pages that may still be added. */
  readonly room: number;
  readonly budgetReached: boolean;
}

export interface Recorded {
  /** Ids of those that were to be claimed and now are, by their address. */
  readonly claimed: ReadonlyMap<string, string>;
  /** Ids of visited pages that wait for their document to be stored, or are held. */
  readonly kept: ReadonlySet<string>;
  /** No page can be added any more, and some were not. */
  readonly full: boolean;
}

type PageRow = Omit<ClaimedPage, 'links'> & CrawlKey & { readonly links: string | null };

/** The pages of crawls, which are also what one crawl leaves for the next. */
@Injectable()
export class CrawlPages {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Keeps the crawl the current one until the transaction ends. @throws CrawlSuperseded when it is not */
  async lock(transaction: Transaction, crawl: CrawlKey): Promise<LockedCrawl> {
    const [row] = await sql.LOCK_CRAWL.run<{ budget: number | null; found: number; budgetReached: boolean }>(
      transaction,
      crawlKeyOf(crawl),
    );
    if (!row) throw new CrawlSuperseded();
    return { room: Math.max((row.budget ?? 0) - row.found, 0), budgetReached: row.budgetReached };
  }

  /**
   * Adds pages that the crawl does not have yet, in their order, while there is room, and notes what visits came to; pages
   * of which another worker has taken over the host are left to it.
   * @throws CrawlSuperseded when the crawl is not the current one any more
   */
  async record(
    executor: SqlExecutor,
    crawl: CrawlKey,
    holder: string,
    found: readonly FoundPage[],
    visits: readonly NotedVisit[],
  ): Promise<Recorded> {
    const claimed = new Map<string, string>();
    const kept = new Set<string>();
    let full = false;
    const noted = visits.map((visit) => visitRow(visit));
    const batches = [
      ...inBatches(
        found.map((page, position) => foundRow(page, position)),
        bytesOf,
      ),
    ];
    for (const [index, pages] of (batches.length > 0 ? batches : [[]]).entries()) {
      const last = index >= batches.length - 1;
      const [result] = await sql.RECORD.run<{ full: boolean; claimed: string | null; kept: string | null }>(executor, {
        ...crawlKeyOf(crawl),
        holder,
        found: pages,
        visits: last ? noted : [],
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

  /** Pages of an origin that are due, of any crawl, for the worker that has the lease of its host. */
  async claim(origin: string, holder: string, limit: number): Promise<(ClaimedPage & CrawlKey)[]> {
    const rows = await sql.CLAIM.run<PageRow>(this.database, {
      origin,
      holder,
      limit,
      sample: SAMPLE_PAGES,
      now: this.clock.now(),
      claimedUntil: this.claimedUntil(),
    });
    return rows.map(pageOf).sort((left, right) => left.depth - right.depth || (left.url < right.url ? -1 : 1));
  }

  /** Makes pages available again of those who had the host's lease before. */
  async takeBack(origin: string, holder: string): Promise<void> {
    await sql.TAKE_BACK.run(this.database, { origin, holder });
  }

  async release(transaction: Transaction, holder: string): Promise<void> {
    await sql.RELEASE.run(transaction, { holder });
  }

  /** When something is to be done on an origin; null where nothing is. */
  async nextDue(transaction: Transaction, origin: string): Promise<Date | null> {
    const [row] = await sql.NEXT_DUE.run<{ due: string | null }>(transaction, { origin });
    return typeof row?.due === 'string' ? toDate(row.due) : null;
  }

  /** Of the crawls, those of which every page has an outcome. */
  finished(transaction: Transaction, crawlIds: readonly string[]): Promise<CrawlKey[]> {
    return crawlIds.length === 0 ? Promise.resolve([]) : sql.FINISHED.run<CrawlKey>(transaction, { crawlIds });
  }

  /** Crawls that hold all pages of an origin that are to be compared, with what the crawl before them knew. */
  completeSamples(origin: string): Promise<(CrawlKey & { readonly earlier: string | null })[]> {
    return sql.COMPLETE_SAMPLES.run(this.database, { origin, sample: SAMPLE_PAGES, visited: SAMPLE_VISITS });
  }

  /** The held pages of a crawl's origin, nearest to the beginning first; they are the holder's from now on. */
  async takeHeld(
    crawl: CrawlKey,
    origin: string,
    holder: string,
  ): Promise<{ page: ClaimedPage; content: PageContent }[]> {
    const rows = await sql.TAKE_HELD.run<PageRow & { held: string }>(this.database, {
      ...crawlKeyOf(crawl),
      origin,
      holder,
      claimedUntil: this.claimedUntil(),
    });
    return rows
      .map((row) => ({ page: pageOf(row), content: HELD_PAGE.readText(row.held, row.id) }))
      .sort((left, right) => left.page.depth - right.page.depth || (left.page.url < right.page.url ? -1 : 1));
  }

  /**
   * In the transaction that stores the page's document.
   * @returns false when it must not be stored: another crawl has begun, the agent is gone, or another worker has the host
   */
  async noteIndexed(
    transaction: Transaction,
    crawl: CrawlKey,
    holder: string,
    page: { readonly id: string; readonly documentId: string; readonly reason: string | null } & Pick<
      PageContent,
      'etag' | 'lastModified' | 'links'
    >,
  ): Promise<boolean> {
    const links = page.links.join('\n');
    // A page whose links are not all kept must be read whole the next time, or pages behind it would be lost.
    const fits = links.length <= MAX_KEPT_LINK_CHARACTERS;
    const rows = await sql.NOTE_INDEXED.run(transaction, {
      ...crawlKeyOf(crawl),
      ...{ holder, id: page.id, documentId: page.documentId, reason: page.reason },
      etag: fits ? storable(page.etag) : null,
      lastModified: fits ? storable(page.lastModified) : null,
      links: fits ? links : null,
    });
    return rows.length > 0;
  }

  /** In the transaction of `lock`, when no page is left: keeps one page of each text, and has it visited where it must stand for itself. */
  async settleCopies(transaction: Transaction, crawl: CrawlKey): Promise<void> {
    await sql.SKIP_COPIES.run(transaction, crawlKeyOf(crawl));
    await sql.RETURN_COPIES.run(transaction, { ...crawlKeyOf(crawl), now: this.clock.now() });
  }

  /** Only the former release goes by it. */
  private claimedUntil(): Date {
    return new Date(this.clock.now().getTime() + HOST_LEASE_MS);
  }
}

function pageOf(row: PageRow): ClaimedPage & CrawlKey {
  return { ...row, links: row.links === null ? null : row.links === '' ? [] : row.links.split('\n') };
}

function foundRow({ url, rootId, origin, depth, claimed = false, disallowed }: FoundPage, position: number) {
  return {
    id: newId(),
    url,
    digest: digestOf(url),
    origin,
    root_id: rootId,
    depth,
    claimed,
    disallowed: disallowed ?? null,
    position,
  };
}

function visitRow({
  id,
  state,
  outcome,
  reason,
  gone = false,
  forget = false,
  copyOf,
  movedTo,
  textDigest,
  held,
  availableAt,
}: NotedVisit) {
  return {
    id,
    state,
    outcome,
    gone,
    forget,
    held: held ?? null,
    text_digest: textDigest ?? null,
    available_at: availableAt?.toISOString() ?? null,
    copy_of: typeof copyOf === 'string' ? digestOf(copyOf) : null,
    moved_to: movedTo === undefined ? null : digestOf(movedTo),
    reason: reason === null ? null : storableText(reason).slice(0, MAX_REASON_CHARACTERS),
  };
}

/** Of a row's JSON, about: the names and ids of a row take some 300 bytes. */
function bytesOf({ url, origin }: { readonly url: string; readonly origin: string }): number {
  return url.length + origin.length + 300;
}

function storable(text: string | null): string | null {
  return text === null ? null : storableText(text);
}

function digestOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}
