import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, inBatches, storableText, toDate, type Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { UnreadSitemaps } from '../application/sitemaps.js';
import { UNREAD_SITEMAPS } from './website.schema.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import type { PageOutcome } from '../domain/crawl-result.js';
import { CLAIM_LEASE_MS, CLAIM_PER_HOST, MAX_KEPT_LINK_CHARACTERS, MAX_REASON_CHARACTERS } from '../limits.js';
import * as sql from './crawl-pages.sql.js';
import type { CrawlKey } from './website.repository.js';

/** One worker's hold on pages of a crawl: `job` is the queue's, of which a second run takes over at once. */
export interface Claim {
  readonly id: string;
  readonly job: string;
}

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
  /** Claimed by whoever found it, since its content is at hand. */
  readonly claimed?: boolean;
  /** Why it must not be fetched; it is skipped at once, and takes no room of those that are fetched. */
  readonly disallowed?: string;
}

/** What became of a page of which nothing new is stored. */
export interface NotedOutcome {
  readonly id: string;
  /** Null: it is tried again at `availableAt`. */
  readonly outcome: PageOutcome | null;
  readonly reason: string | null;
  readonly gone?: boolean;
  /** The next crawl asks for it as for a new page. */
  readonly forget?: boolean;
  /** Addresses: of the page that it says it is a copy of, or that its server redirects to. */
  readonly copyOf?: string;
  readonly movedTo?: string;
  readonly availableAt?: Date;
}

export interface IndexedPage {
  readonly id: string;
  readonly documentId: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly links: readonly string[];
}

export interface LockedCrawl {
  /** Pages that may still be added. */
  readonly room: number;
  readonly disallowedRoom: number;
  readonly budgetReached: boolean;
}

export interface AddedPages {
  /** How many are to be visited. */
  readonly added: number;
  /** Ids of those that were to be claimed and now are, by their address. */
  readonly claimed: ReadonlyMap<string, string>;
  /** No page can be added any more, and some were not. */
  readonly budgetReached: boolean;
}

interface LockedRow {
  readonly budget: number | null;
  readonly found: number;
  readonly disallowed: number;
  readonly budget_reached: boolean;
}

/** The frontier of a crawl, which is also what one crawl leaves for the next. */
@Injectable()
export class CrawlPages {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Keeps the crawl the current one until the transaction ends. @returns null when it is not */
  async lock(transaction: Transaction, crawl: CrawlKey): Promise<LockedCrawl | null> {
    const [row] = await sql.LOCK_CRAWL.run<LockedRow>(transaction, keyOf(crawl));
    if (!row) return null;
    const budget = row.budget ?? 0;
    return {
      room: Math.max(budget - row.found, 0),
      disallowedRoom: Math.max(budget - row.disallowed, 0),
      budgetReached: row.budget_reached,
    };
  }

  async open(transaction: Transaction, crawl: CrawlKey, budget: number): Promise<void> {
    await sql.OPEN_CRAWL.run(transaction, { ...keyOf(crawl), budget });
    await sql.FORGET_ORIGINS.run(transaction, keyOf(crawl));
  }

  /** With what is left of their sitemaps: null for nothing. */
  async openedOrigins(crawl: CrawlKey): Promise<ReadonlyMap<string, UnreadSitemaps | null>> {
    const rows = await sql.OPENED_ORIGINS.run<{ origin: string; sitemaps: unknown }>(this.database, keyOf(crawl));
    return new Map(rows.map(({ origin, sitemaps }) => [origin, UNREAD_SITEMAPS.readNullable(sitemaps, `${crawl.crawlId} ${origin}`)]));
  }

  /** The origin's sitemaps were read, but for those given. Of two steps at once, one that came to their end has the last word. */
  async openOrigin(transaction: Transaction, crawl: CrawlKey, origin: string, sitemaps: UnreadSitemaps | null): Promise<void> {
    await sql.OPEN_ORIGIN.run(transaction, { ...keyOf(crawl), origin, sitemaps });
  }

  /** Adds pages that the crawl does not have yet, in their order, while there is room. In the transaction of `lock`. */
  async add(transaction: Transaction, crawl: CrawlKey, found: readonly FoundPage[], locked: LockedCrawl, claim: Claim): Promise<AddedPages> {
    const claimed = new Map<string, string>();
    let { room, disallowedRoom } = locked;
    let [added, disallowed, left] = [0, 0, false];
    const now = this.clock.now();
    const rows = found.map((page, position) => rowOf(page, position));
    for (const pages of inBatches(rows, bytesOf)) {
      const [result] = await sql.ADD_PAGES.run<{ fresh: number; added: number; disallowed: number; claimed: string | null }>(
        transaction,
        { ...keyOf(crawl), pages, room, disallowedRoom, now, ...this.leaseOf(claim) },
      );
      if (!result) continue;
      room -= result.added;
      disallowedRoom -= result.disallowed;
      added += result.added;
      disallowed += result.disallowed;
      left ||= result.fresh > result.added;
      for (const { id, url } of JSON.parse(result.claimed ?? '[]') as { id: string; url: string }[]) claimed.set(url, id);
    }
    await sql.COUNT_FOUND.run(transaction, { ...keyOf(crawl), found: added, disallowed, budgetReached: left, now });
    return { added, claimed, budgetReached: locked.budgetReached || left };
  }

  /** Makes pages of workers that are gone available again. */
  async takeBack(crawl: CrawlKey, claim: Claim): Promise<void> {
    await sql.TAKE_BACK.run(this.database, { ...keyOf(crawl), claimId: claim.id, claimJob: claim.job, now: this.clock.now() });
  }

  /** Pages that are due, for this worker alone until its lease ends; nearest to the beginning first. */
  async claim(crawl: CrawlKey, origins: readonly string[], claim: Claim): Promise<ClaimedPage[]> {
    const rows = await sql.CLAIM.run<Omit<ClaimedPage, 'links'> & { links: string | null }>(this.database, {
      ...keyOf(crawl), origins, perHost: CLAIM_PER_HOST, now: this.clock.now(), ...this.leaseOf(claim),
    });
    return rows
      .map((row) => ({ ...row, links: linksOf(row.links) }))
      .sort((left, right) => left.depth - right.depth || (left.id < right.id ? -1 : 1));
  }

  /** The worker is alive; so is the crawl. */
  async renew(crawl: CrawlKey, claim: Claim): Promise<void> {
    const { claimId, claimedUntil } = this.leaseOf(claim);
    await sql.RENEW.run(this.database, { ...keyOf(crawl), claimId, claimedUntil, now: this.clock.now() });
  }

  /** Gives back pages that were not tried. */
  async release(crawl: CrawlKey, claim: Claim, pages: readonly { readonly id: string; readonly availableAt: Date }[]): Promise<void> {
    if (pages.length === 0) return;
    const ids = pages.map(({ id }) => id);
    const availableAt = pages.map((page) => page.availableAt.toISOString());
    await sql.RELEASE.run(this.database, { ...keyOf(crawl), claimId: claim.id, ids, availableAt });
  }

  async releaseAll(crawl: CrawlKey, claim: Claim): Promise<void> {
    await sql.RELEASE_ALL.run(this.database, { ...keyOf(crawl), claimId: claim.id });
  }

  /** In the transaction of `lock`; pages that another worker has taken over are left to it. */
  async note(transaction: Transaction, crawl: CrawlKey, claim: Claim, outcomes: readonly NotedOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    const pages = outcomes.map(({ id, outcome, reason, gone = false, forget = false, copyOf, movedTo, availableAt }) => ({
      id, outcome, gone, forget, copy_of: copyOf === undefined ? null : digestOf(copyOf), moved_to: movedTo === undefined ? null : digestOf(movedTo), reason: reason === null ? null : storableText(reason).slice(0, MAX_REASON_CHARACTERS),
      state: outcome === null ? 'pending' : 'done', available_at: availableAt?.toISOString() ?? null,
    }));
    await sql.NOTE_OUTCOMES.run(transaction, { ...keyOf(crawl), claimId: claim.id, pages });
  }

  /**
   * In the transaction that stores the page's document.
   * @returns false when it must not be stored: another crawl has begun, the agent is gone, or another worker has the page
   */
  async noteIndexed(transaction: Transaction, crawl: CrawlKey, claim: Claim, page: IndexedPage): Promise<boolean> {
    const links = page.links.join('\n');
    // A page whose links are not all kept must be read whole the next time, or pages behind it would be lost.
    const fits = links.length <= MAX_KEPT_LINK_CHARACTERS;
    const rows = await sql.NOTE_INDEXED.run(transaction, {
      ...keyOf(crawl),
      claimId: claim.id,
      id: page.id,
      documentId: page.documentId,
      etag: fits ? storable(page.etag) : null,
      lastModified: fits ? storable(page.lastModified) : null,
      links: fits ? links : null,
    });
    return rows.length > 0;
  }

  /** Of the addresses, those that the crawl has indexed or may still index. */
  async indexable(transaction: Transaction, crawl: CrawlKey, urls: readonly string[]): Promise<ReadonlySet<string>> {
    if (urls.length === 0) return new Set();
    const rows = await sql.INDEXABLE.run<{ url: string }>(transaction, { ...keyOf(crawl), digests: urls.map(digestOf) });
    return new Set(rows.map(({ url }) => url));
  }

  /**
   * In the transaction of `lock`, when no page is left: copies of pages that could not be indexed are due again.
   * @returns whether there are any
   */
  async returnCopies(transaction: Transaction, crawl: CrawlKey): Promise<boolean> {
    return (await sql.RETURN_COPIES.run(transaction, { ...keyOf(crawl), now: this.clock.now() })).length > 0;
  }

  /**
   * When a page is due, or a claim ends; null when no page is left.
   * @param pauses of origins that are to be left alone, in ms
   */
  async nextDue(transaction: Transaction, crawl: CrawlKey, pauses: ReadonlyMap<string, number>): Promise<Date | null> {
    const rows = await sql.NEXT_DUE.run<{ origin: string | null; due: string }>(transaction, keyOf(crawl));
    const now = this.clock.now().getTime();
    const times = rows.map(({ origin, due }) => Math.max(toDate(due).getTime(), now + (pauses.get(origin ?? '') ?? 0)));
    return times.length === 0 ? null : new Date(Math.min(...times));
  }

  private leaseOf({ id, job }: Claim): { claimId: string; claimJob: string; claimedUntil: Date } {
    return { claimId: id, claimJob: job, claimedUntil: new Date(this.clock.now().getTime() + CLAIM_LEASE_MS) };
  }
}

function keyOf({ organizationId, agentId, crawlId }: CrawlKey): CrawlKey {
  return { organizationId, agentId, crawlId };
}

function rowOf({ url, rootId, origin, depth, claimed = false, disallowed }: FoundPage, position: number) {
  return { id: newId(), url, digest: digestOf(url), origin, root_id: rootId, depth, claimed, disallowed: disallowed ?? null, position };
}

/** Of a row's JSON, about: the names and ids of a row take some 300 bytes. */
function bytesOf({ url, origin }: { readonly url: string; readonly origin: string }): number {
  return url.length + origin.length + 300;
}

function linksOf(text: string | null): readonly string[] | null {
  if (text === null) return null;
  return text === '' ? [] : text.split('\n');
}

function storable(text: string | null): string | null {
  return text === null ? null : storableText(text);
}

export function digestOf(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}
