import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, DatabaseUnavailable, type SqlExecutor, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import type { WithDocument } from '../../index/application/indexing/indexed-document.js';
import type { PageContent } from '../domain/held-page.js';
import { CrawlSuperseded } from '../domain/website.errors.js';
import { charactersOf, textDigest } from '../domain/page-text.js';
import { repeatedBlocks, withoutRepeated } from '../domain/repeated-blocks.js';
import { crawlHost } from '../jobs/crawl.jobs.js';
import { MAX_HELD_CHARACTERS, STORED_AT_ONCE } from '../limits.js';
import { CrawlOrigins, keysIn } from '../persistence/crawl-origins.repository.js';
import {
  type ClaimedPage,
  CrawlPages,
  type FoundPage,
  type NotedVisit,
  type Recorded,
} from '../persistence/crawl-pages.repository.js';
import { allEnded } from './all-ended.js';
import type { CrawlContext } from './host-slice.js';
import { laterNote, ofReading, skippedNote, type Visit } from './visit.js';

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
    const found = context.full ? [] : context.unknownOf(visits.flatMap((visit) => visit.found));
    const read = visits.flatMap(({ page, content }) => (content ? [{ page, content }] : []));
    const held = read.filter(({ content }) => mustBeHeld(context, content));
    const storables = read.filter((page) => !held.includes(page)).map((page) => filtered(context, page));
    const notes = [...visits.flatMap(({ note }) => note ?? []), ...held.map(heldNote), ...notesOf(storables)];
    const { claimed, kept } = await this.note(context, found, notes);
    await this.store(
      context,
      storables.filter(({ page }) => kept.has(page.id)),
    );
    const arrived = visits.flatMap((visit) => atTarget(visit, claimed));
    if (arrived.length > 0) await this.execute(context, arrived);
  }

  /** Stores the pages that are held of the context's site, now that all are there that are to be compared. @throws CrawlSuperseded */
  async releaseHeld(context: CrawlContext, earlier: string | null): Promise<void> {
    const held = await this.pages.takeHeld(context.crawl, context.slice.origin, context.slice.host.id);
    context.repeated = repeatedBlocks(
      held.map(({ content }) => content.blocks),
      keysIn(earlier),
    );
    await this.origins.setRepeated(context.crawl, context.slice.origin, context.repeated);
    const storables = held.map((page) => filtered(context, page));
    const { kept } = await this.note(context, [], notesOf(storables));
    await this.store(
      context,
      storables.filter(({ page }) => kept.has(page.id)),
    );
  }

  private async note(
    context: CrawlContext,
    found: readonly FoundPage[],
    notes: readonly NotedVisit[],
  ): Promise<Recorded> {
    const others = new Set(found.map(({ origin }) => origin).filter((origin) => origin !== context.slice.origin));
    const record = (executor: SqlExecutor): Promise<Recorded> =>
      this.pages.record(executor, context.crawl, context.slice.host.id, found, notes);
    const handOn = async (transaction: Transaction): Promise<Recorded> => {
      for (const origin of others) await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin });
      return record(transaction);
    };
    const recorded = await (others.size === 0 ? record(this.database) : this.database.transaction(handOn));
    context.remember(found, recorded.full);
    return recorded;
  }

  private async store(context: CrawlContext, storables: readonly Storable[]): Promise<void> {
    const waiting = [...storables];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.storeOne(context, next);
    };
    await allEnded(Array.from({ length: STORED_AT_ONCE }, worker));
  }

  private async storeOne(context: CrawlContext, storable: Storable): Promise<void> {
    context.signal.throwIfAborted();
    try {
      await this.put(context, storable);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof CrawlSuperseded) throw error;
      context.signal.throwIfAborted();
      // A page that the index cannot take must not keep the crawl from its end.
      const { page } = storable;
      this.logger.warn({ err: error, url: page.url, crawlId: context.crawl.crawlId }, 'A page could not be stored');
      await this.note(context, [], [laterNote(page, 'It could not be stored.', this.clock.now())]);
    }
  }

  private async put(context: CrawlContext, { page, content }: Storable): Promise<void> {
    const { organizationId, agentId } = context.crawl;
    const { canonical, links, etag, lastModified, ...document } = content;
    const source = {
      organizationId,
      agentId,
      kind: 'website',
      key: page.url,
      title: document.title ?? page.url,
      url: page.url,
      scope: null,
    } as const;
    const reason =
      canonical === null
        ? null
        : `It names ${canonical} as its canonical address, which has another text or cannot be had.`;
    const accept: WithDocument = (transaction, { documentId }) =>
      this.pages.noteIndexed(transaction, context.crawl, context.slice.host.id, {
        id: page.id,
        documentId,
        reason,
        etag,
        lastModified,
        links,
      });
    const stored = await this.index.put(source, { ...document, page: null }, accept, {
      isNew: page.documentId === null,
      withoutVectors: true,
    });
    context.hasNewChunks ||= stored?.unchanged === false;
    // Not accepted: another worker has the host by now, unless the crawl is over.
    if (!stored) await this.database.transaction((transaction) => this.pages.lock(transaction, context.crawl));
  }
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
    if (first !== undefined)
      return { ...skippedNote(id, `It has the same text as ${first}.`), copyOf: first, textDigest: digest };
    firsts.set(digest, url);
    return { id, state: 'fetching', outcome: null, reason: null, copyOf: canonical, textDigest: digest };
  });
}

/** As the database ranks pages with the same text. */
function byRank(left: Storable, right: Storable): number {
  const [a, b] = [left.page, right.page];
  return (
    Number(left.content.canonical !== null) - Number(right.content.canonical !== null) ||
    a.depth - b.depth ||
    a.url.length - b.url.length ||
    (a.url < b.url ? -1 : 1)
  );
}

function heldNote({ page: { id }, content }: Storable): NotedVisit {
  return { id, state: 'fetching', outcome: null, reason: null, held: content, copyOf: content.canonical };
}

/** The page that a redirect has led to, whose content is at hand; none where the crawl knew it already. */
function atTarget({ page, arrived }: Visit, claimed: ReadonlyMap<string, string>): Visit[] {
  const id = arrived && claimed.get(arrived.at.url);
  if (!arrived || id === undefined) return [];
  return [
    { ...ofReading({ ...page, ...arrived.at, id, documentId: null }, arrived.content, arrived.noindex), found: [] },
  ];
}
