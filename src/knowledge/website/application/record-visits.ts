import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, DatabaseUnavailable, type SqlExecutor, type Transaction } from '../../../platform/database/index.js';
import { secureRandomBytes } from '../../../platform/ids/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import type { WithDocument } from '../../index/application/indexing/indexed-document.js';
import type { PageContent } from '../domain/held-page.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import { charactersOf, textDigest } from '../domain/page-text.js';
import { repeatedBlocks, withoutRepeated } from '../domain/repeated-blocks.js';
import { retryDelayMs } from '../domain/retry-delay.js';
import { crawlHost } from '../jobs/crawl.jobs.js';
import { MAX_HELD_CHARACTERS, MAX_PAUSE_MS, MAX_TRIES, STORED_AT_ONCE } from '../limits.js';
import { CrawlOrigins, keysIn } from '../persistence/crawl-origins.repository.js';
import { type ClaimedPage, CrawlPages, type FoundPage, type NotedVisit, type Recorded } from '../persistence/crawl-pages.repository.js';
import type { CrawlContext } from './host-slice.js';
import type { Visit } from './visit-page.js';

/** A page whose document is to be stored. */
interface Storable {
  readonly page: ClaimedPage;
  readonly content: PageContent;
}

/**
 * Stores what visits came to. First, in one transaction for all of them, the pages that they lead to: a worker that
 * dies after it leaves pages to be visited again, and none to be missed. Then each document, with its page's outcome.
 * The first pages of a site are held until it is known what stands on all of them.
 */
@Injectable()
export class RecordVisits {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly origins: CrawlOrigins,
    private readonly index: DocumentIndex,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws CrawlSuperseded */
  async execute(context: CrawlContext, visits: readonly Visit[]): Promise<void> {
    const found = context.unknownOf(visits.flatMap((visit) => foundIn(context, visit)));
    const storables = visits.flatMap((visit) => (visit.kind === 'read' && isPlain(visit) && !mustBeHeld(context, visit.content) ? [filtered(context, visit)] : []));
    const notes = [...visits.map((visit) => this.noteOf(context, visit)).filter((note) => note !== null), ...notesOf(storables)];
    const { claimed, kept } = await this.note(context, found, notes);
    await this.store(context, storables.filter(({ page }) => kept.has(page.id)));
    const arrived = visits.flatMap((visit) => (visit.kind === 'read' && visit.at.url !== visit.page.url ? atTarget(visit, claimed) : []));
    if (arrived.length > 0) await this.execute(context, arrived);
  }

  /** Stores the pages that are held of the context's site, now that all are there that are to be compared. @throws CrawlSuperseded */
  async releaseHeld(context: CrawlContext, earlier: string | null): Promise<void> {
    const held = await this.pages.takeHeld(context.crawl, context.slice.origin, context.slice.host.id);
    context.repeated = repeatedBlocks(held.map(({ content }) => content.blocks), keysIn(earlier));
    await this.origins.setRepeated(context.crawl, context.slice.origin, context.repeated);
    const storables = held.map((page) => filtered(context, page));
    const { kept } = await this.note(context, [], notesOf(storables));
    await this.store(context, storables.filter(({ page }) => kept.has(page.id)));
  }

  private async note(context: CrawlContext, found: readonly FoundPage[], notes: readonly NotedVisit[]): Promise<Recorded> {
    const others = new Set(found.map(({ origin }) => origin).filter((origin) => origin !== context.slice.origin));
    const record = (executor: SqlExecutor): Promise<Recorded> => this.pages.record(executor, context.crawl, context.slice.host.id, found, notes);
    const handOn = async (transaction: Transaction): Promise<Recorded> => {
      for (const origin of others) await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin });
      return record(transaction);
    };
    const recorded = await (others.size === 0 ? record(this.database) : this.database.transaction(handOn));
    context.remember(found, recorded.full);
    return recorded;
  }

  /** What became of a page of which no document is to be stored at once; null where one is. */
  private noteOf(context: CrawlContext, visit: Visit): NotedVisit | null {
    const { id, attempts } = visit.page;
    switch (visit.kind) {
      case 'read':
        if (visit.at.url !== visit.page.url) return moved(id, visit.at.url);
        if (visit.noindex) return skipped(id, 'The page asks not to be indexed (noindex).');
        return mustBeHeld(context, visit.content) ? { id, state: 'fetching', outcome: null, reason: null, held: visit.content, copyOf: visit.content.canonical } : null;
      case 'unchanged':
        return { id, state: 'done', outcome: 'indexed', reason: null };
      case 'failed':
        return { id, state: 'done', outcome: 'failed', reason: visit.reason, gone: visit.gone, forget: visit.gone };
      case 'skipped':
        return { ...skipped(id, visit.reason), ...(visit.leadsTo !== undefined && { movedTo: visit.leadsTo }) };
      case 'moved':
        return moved(id, visit.at.url);
      case 'later':
        return this.triedLater(id, attempts, visit.reason, visit.retryAfterMs);
    }
  }

  private triedLater(id: string, attempts: number, reason: string, retryAfterMs: number | null): NotedVisit {
    const pauseMs = retryDelayMs(attempts, retryAfterMs, secureRandomBytes(1).readUInt8() / 255);
    if (pauseMs > MAX_PAUSE_MS) return { id, state: 'done', outcome: 'failed', reason };
    return { id, state: 'pending', outcome: null, reason, availableAt: new Date(this.clock.now().getTime() + pauseMs) };
  }

  private async store(context: CrawlContext, storables: readonly Storable[]): Promise<void> {
    const waiting = [...storables];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.storeOne(context, next);
    };
    // Each is waited for: what one still stores must not come after the slice's end.
    const results = await Promise.allSettled(Array.from({ length: STORED_AT_ONCE }, worker));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async storeOne(context: CrawlContext, storable: Storable): Promise<void> {
    context.signal.throwIfAborted();
    try {
      await this.put(context, storable);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof CrawlSuperseded) throw error;
      context.signal.throwIfAborted();
      // A page that the index cannot take must not keep the crawl from its end.
      const { id, url, attempts } = storable.page;
      this.logger.warn({ err: error, url, crawlId: context.crawl.crawlId }, 'A page could not be stored');
      const reason = 'It could not be stored.';
      await this.note(context, [], [attempts >= MAX_TRIES ? { id, state: 'done', outcome: 'failed', reason } : this.triedLater(id, attempts, reason, null)]);
    }
  }

  private async put(context: CrawlContext, { page, content }: Storable): Promise<void> {
    const { organizationId, agentId } = context.crawl;
    const { canonical, links, etag, lastModified, ...document } = content;
    const source = { organizationId, agentId, kind: 'website', key: page.url, title: document.title ?? page.url, url: page.url, scope: null } as const;
    const reason = canonical === null ? null : `It names ${canonical} as its canonical address, which has another text or cannot be had.`;
    const accept: WithDocument = (transaction, { documentId }) =>
      this.pages.noteIndexed(transaction, context.crawl, context.slice.host.id, { id: page.id, documentId, reason, etag, lastModified, links });
    const stored = await this.index.put(source, { ...document, page: null }, accept, { isNew: page.documentId === null, withoutVectors: true });
    context.hasNewChunks ||= stored?.unchanged === false;
    // Not accepted: another worker has the host by now, unless the crawl is over.
    if (!stored) await this.database.transaction((transaction) => this.pages.lock(transaction, context.crawl));
  }
}

/** Its document is stored under its own address. */
function isPlain({ page, at, noindex }: Extract<Visit, { kind: 'read' }>): boolean {
  return page.url === at.url && !noindex;
}

/** Other formats have no template. */
function mustBeHeld({ repeated }: CrawlContext, { format, blocks }: PageContent): boolean {
  return repeated === null && format === 'html' && charactersOf(blocks) <= MAX_HELD_CHARACTERS;
}

function filtered({ repeated }: CrawlContext, { page, content }: Storable): Storable {
  const isTemplate = content.format === 'html' && repeated !== null;
  return { page, content: isTemplate ? { ...content, blocks: withoutRepeated(content.blocks, repeated) } : content };
}

/** Of pages of one group that have the same text all but the first are copies at once; with others the database compares them. */
function notesOf(storables: readonly Storable[]): NotedVisit[] {
  const firsts = new Map<string, string>();
  return [...storables].sort(byRank).map(({ page: { id, url }, content: { blocks, canonical } }) => {
    const digest = textDigest(blocks);
    const first = firsts.get(digest);
    if (first !== undefined) return { ...skipped(id, `It has the same text as ${first}.`), copyOf: first, textDigest: digest };
    firsts.set(digest, url);
    return { id, state: 'fetching', outcome: null, reason: null, copyOf: canonical, textDigest: digest };
  });
}

/** As the database ranks pages with the same text. */
function byRank(left: Storable, right: Storable): number {
  const [a, b] = [left.page, right.page];
  return Number(left.content.canonical !== null) - Number(right.content.canonical !== null) || a.depth - b.depth || a.url.length - b.url.length || (a.url < b.url ? -1 : 1);
}

/** The page that a redirect has led to, whose content is at hand; none where the crawl knew it already. */
function atTarget(visit: Extract<Visit, { kind: 'read' }>, claimed: ReadonlyMap<string, string>): Visit[] {
  const id = claimed.get(visit.at.url);
  return id === undefined ? [] : [{ ...visit, page: { ...visit.page, ...visit.at, id, documentId: null }, links: [] }];
}

function foundIn(context: CrawlContext, visit: Visit): FoundPage[] {
  switch (visit.kind) {
    case 'later':
    case 'skipped':
      return [];
    case 'moved':
      return [{ ...visit.at, depth: visit.page.depth }];
    case 'read':
      return [...(visit.at.url === visit.page.url ? [] : [{ ...visit.at, depth: visit.page.depth, claimed: true }]), ...(context.full ? [] : visit.links)];
    case 'unchanged':
    case 'failed':
      return context.full ? [] : [...visit.links];
  }
}

/** What was known of the page says nothing of what the next crawl finds. */
function skipped(id: string, reason: string): NotedVisit {
  return { id, state: 'done', outcome: 'skipped', reason, forget: true };
}

function moved(id: string, to: string): NotedVisit {
  return skipped(id, `It redirects to ${to}, which is a page of its own.`);
}
