import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, DatabaseUnavailable, type SqlExecutor, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import type { AcceptDocument } from '../../index/application/indexing/indexed-document.js';
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
  type VisitNote,
  type RecordedVisits,
} from '../persistence/crawl-pages.repository.js';
import { type CrawlContext, settleAll } from './host-slice.js';
import { retryNote, skippedNote, type Visit, visitWithContent } from './visit.js';

interface PageWithContent {
  readonly page: ClaimedPage;
  readonly content: PageContent;
}

/**
 * Stores the results of visits. First the pages that they found, in one transaction: when the worker dies after it, pages are
 * visited twice, but none is lost. Then each document, in one transaction with its page's outcome. The first pages of an
 * origin are held until they can be compared to find boilerplate.
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
    const found = context.full ? [] : context.withoutStored(visits.flatMap((visit) => visit.found));
    const read = visits.flatMap(({ page, content }) => (content ? [{ page, content }] : []));
    const held = read.filter(({ content }) => mustHold(context, content));
    const documents = read.filter((page) => !held.includes(page)).map((page) => withoutBoilerplate(context, page));
    const notes = [...visits.flatMap(({ note }) => note ?? []), ...held.map(heldNote), ...notesFor(documents)];
    const { claimed, kept } = await this.recordNotes(context, found, notes);
    await this.store(context, documents, kept);
    const targets = visits.flatMap((visit) => visitOfTarget(visit, claimed));
    if (targets.length > 0) await this.execute(context, targets);
  }

  /** Compares the held pages of the context's origin and stores them. @throws CrawlSuperseded */
  async releaseHeld(context: CrawlContext, earlier: string | null): Promise<void> {
    const held = await this.pages.takeHeld(context.crawl, context.slice.origin, context.slice.host.id);
    context.repeated = repeatedBlocks(
      held.map(({ content }) => content.blocks),
      keysIn(earlier),
    );
    await this.origins.setRepeated(context.crawl, context.slice.origin, context.repeated);
    const documents = held.map((page) => withoutBoilerplate(context, page));
    const { kept } = await this.recordNotes(context, [], notesFor(documents));
    await this.store(context, documents, kept);
  }

  private async recordNotes(
    context: CrawlContext,
    found: readonly FoundPage[],
    notes: readonly VisitNote[],
  ): Promise<RecordedVisits> {
    const others = new Set(found.map(({ origin }) => origin).filter((origin) => origin !== context.slice.origin));
    const record = (executor: SqlExecutor): Promise<RecordedVisits> =>
      this.pages.record(executor, context.crawl, context.slice.host.id, found, notes);
    const recordAndEnqueue = async (transaction: Transaction): Promise<RecordedVisits> => {
      for (const origin of others) await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin });
      return record(transaction);
    };
    const recorded = await (others.size === 0 ? record(this.database) : this.database.transaction(recordAndEnqueue));
    context.markStored(found, recorded.full);
    return recorded;
  }

  private async store(
    context: CrawlContext,
    documents: readonly PageWithContent[],
    kept: RecordedVisits['kept'],
  ): Promise<void> {
    const waiting = documents.filter(({ page }) => kept.has(page.id));
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.storeOne(context, next);
    };
    await settleAll(Array.from({ length: STORED_AT_ONCE }, worker));
  }

  private async storeOne(context: CrawlContext, document: PageWithContent): Promise<void> {
    context.signal.throwIfAborted();
    try {
      await this.put(context, document);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof CrawlSuperseded) throw error;
      context.signal.throwIfAborted();
      // One page must not fail the crawl.
      const { page } = document;
      this.logger.warn({ err: error, url: page.url, crawlId: context.crawl.crawlId }, 'A page could not be stored');
      await this.recordNotes(context, [], [retryNote(page, 'It could not be stored.', this.clock.now())]);
    }
  }

  private async put(context: CrawlContext, { page, content }: PageWithContent): Promise<void> {
    const { organizationId, agentId } = context.crawl;
    const { canonical, links, etag, lastModified, ...document } = content;
    const title = document.title ?? page.url;
    const source = {
      organizationId,
      agentId,
      kind: 'website',
      key: page.url,
      title,
      url: page.url,
      scope: null,
    } as const;
    const reason =
      canonical && `It names ${canonical} as its canonical address, which has another text or could not be indexed.`;
    const accept: AcceptDocument = (transaction, { documentId }) => {
      const indexed = { id: page.id, documentId, reason, etag, lastModified, links };
      return this.pages.markIndexed(transaction, context.crawl, context.slice.host.id, indexed);
    };
    const stored = await this.index.put(source, { ...document, page: null }, accept, {
      isNew: page.documentId === null,
      withoutVectors: true,
    });
    context.hasNewChunks ||= stored?.isUnchanged === false;
    // Not accepted: this throws where another crawl has replaced this one; otherwise another worker has the page.
    if (!stored) await this.database.transaction((transaction) => this.pages.lock(transaction, context.crawl));
  }
}

/** Only HTML pages have boilerplate. */
function mustHold({ repeated }: CrawlContext, { format, blocks }: PageContent): boolean {
  return repeated === null && format === 'html' && charactersOf(blocks) <= MAX_HELD_CHARACTERS;
}

function withoutBoilerplate({ repeated }: CrawlContext, { page, content }: PageWithContent): PageWithContent {
  if (content.format !== 'html' || repeated === null) return { page, content };
  return { page, content: { ...content, blocks: withoutRepeated(content.blocks, repeated) } };
}

/** Of these pages, those with the same text as another are skipped here. The statement compares them with stored pages. */
function notesFor(documents: readonly PageWithContent[]): VisitNote[] {
  const firsts = new Map<string, string>();
  return [...documents].sort(byRank).map(({ page: { id, url }, content: { blocks, canonical } }) => {
    const digest = textDigest(blocks);
    const first = firsts.get(digest);
    if (first !== undefined)
      return { ...skippedNote(id, `It has the same text as ${first}.`), copyOf: first, textDigest: digest };
    firsts.set(digest, url);
    return { id, state: 'fetching', outcome: null, reason: null, copyOf: canonical, textDigest: digest };
  });
}

/** The order of `rank` in `crawl-pages.sql.ts`. */
function byRank(left: PageWithContent, right: PageWithContent): number {
  const [a, b] = [left.page, right.page];
  return (
    Number(left.content.canonical !== null) - Number(right.content.canonical !== null) ||
    a.depth - b.depth ||
    a.url.length - b.url.length ||
    (a.url < b.url ? -1 : 1)
  );
}

function heldNote({ page: { id }, content }: PageWithContent): VisitNote {
  return { id, state: 'fetching', outcome: null, reason: null, held: content, copyOf: content.canonical };
}

/** The visit of the page that a visited one redirected to; none where the crawl had that page before. */
function visitOfTarget({ page, redirectedTo }: Visit, claimed: ReadonlyMap<string, string>): Visit[] {
  const id = redirectedTo && claimed.get(redirectedTo.page.url);
  if (!redirectedTo || id === undefined) return [];
  const target = { ...page, ...redirectedTo.page, id, documentId: null };
  return [{ ...visitWithContent(target, redirectedTo.content, redirectedTo.noindex), found: [] }];
}
