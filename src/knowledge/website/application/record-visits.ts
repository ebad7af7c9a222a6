import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, DatabaseUnavailable, type Transaction } from '../../../platform/database/index.js';
import { secureRandomBytes } from '../../../platform/ids/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { retryDelayMs } from '../domain/retry-delay.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import { DocumentIndex, type WithDocument } from '../../index/application/indexing/document-index.js';
import { CrawlPages, type FoundPage, type NotedOutcome } from '../persistence/crawl-pages.repository.js';
import { CrawlContext, CrawlSuperseded } from './crawl-context.js';
import { MAX_PAUSE_MS, MAX_TRIES, STORED_AT_ONCE } from '../limits.js';
import type { Visit } from './visit-page.js';

type Read = Extract<Visit, { kind: 'read' }>;

/** A page whose document is to be stored. */
interface Storable {
  readonly id: string;
  readonly at: ScopedPage;
  readonly visit: Read;
}

/**
 * Stores what visits came to. First, in one transaction for all of them, the pages that they lead to: a worker that
 * dies after it leaves pages to be visited again, and none to be missed. Then each document, with its page's outcome.
 */
@Injectable()
export class RecordVisits {
  constructor(
    private readonly database: Database,
    private readonly pages: CrawlPages,
    private readonly index: DocumentIndex,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws CrawlSuperseded */
  async execute(context: CrawlContext, visits: readonly Visit[]): Promise<void> {
    const waiting = [...(await this.note(context, visits))];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.storeOrNote(context, next);
    };
    // Each is waited for: what one still stores must not come after the step's end.
    const results = await Promise.allSettled(Array.from({ length: STORED_AT_ONCE }, worker));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async storeOrNote(context: CrawlContext, storable: Storable): Promise<void> {
    context.signal.throwIfAborted();
    try {
      await this.store(context, storable);
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof CrawlSuperseded) throw error;
      await this.unstorable(context, storable, error);
    }
  }

  private async note(context: CrawlContext, visits: readonly Visit[]): Promise<readonly Storable[]> {
    const found = context.unknownOf(visits.flatMap((visit) => foundIn(context, visit)));
    const isSimple = found.length === 0 && visits.every((visit) => visit.kind === 'read' && isPlain(visit));
    if (isSimple) return visits.flatMap((visit) => (visit.kind === 'read' ? [{ id: visit.page.id, at: visit.at, visit }] : []));
    const { storable, full } = await this.database.transaction(async (transaction) => {
      const locked = await this.pages.lock(transaction, context.crawl);
      if (!locked) throw new CrawlSuperseded();
      const added = await this.pages.add(transaction, context.crawl, found, locked, context.claim);
      const { storable, outcomes } = await this.sort(transaction, context, visits, added.claimed);
      await this.pages.note(transaction, context.crawl, context.claim, outcomes);
      return { storable, full: added.budgetReached };
    });
    context.remember(found);
    context.full ||= full;
    return storable;
  }

  /** Which documents are stored, and what became of the other pages. */
  private async sort(
    transaction: Transaction,
    context: CrawlContext,
    visits: readonly Visit[],
    claimed: ReadonlyMap<string, string>,
  ): Promise<{ storable: Storable[]; outcomes: NotedOutcome[] }> {
    const canonicals = visits.flatMap((visit) => (visit.kind === 'read' && visit.canonical ? [visit.canonical.url] : []));
    const indexable = await this.pages.indexable(transaction, context.crawl, canonicals);
    const storable: Storable[] = [];
    const outcomes: NotedOutcome[] = [];
    for (const visit of visits) {
      if (visit.kind !== 'read') {
        outcomes.push(this.outcomeOf(visit));
        continue;
      }
      const { page, at } = visit;
      const isMoved = at.url !== page.url;
      if (isMoved) outcomes.push(moved(page.id, at.url));
      const id = isMoved ? claimed.get(at.url) : page.id;
      if (id === undefined) continue;
      if (visit.noindex) outcomes.push(skipped(id, 'The page asks not to be indexed (noindex).'));
      else if (isCopy(visit, indexable)) outcomes.push(copy(id, visit.canonical.url));
      else storable.push({ id, at, visit });
    }
    return { storable, outcomes };
  }

  private outcomeOf(visit: Exclude<Visit, Read>): NotedOutcome {
    const { id, attempts } = visit.page;
    switch (visit.kind) {
      case 'unchanged':
        return { id, outcome: 'indexed', reason: null };
      case 'failed':
        return { id, outcome: 'failed', reason: visit.reason, gone: visit.gone, forget: visit.gone };
      case 'skipped':
        return skipped(id, visit.reason);
      case 'moved':
        return moved(id, visit.at.url);
      case 'later':
        return this.triedLater(id, attempts, visit.reason, visit.retryAfterMs);
    }
  }

  /** A page that the index cannot take must not keep the crawl from its end. */
  private async unstorable(context: CrawlContext, { id, visit }: Storable, error: unknown): Promise<void> {
    context.signal.throwIfAborted();
    this.logger.warn({ err: error, url: visit.at.url, crawlId: context.crawl.crawlId }, 'A page could not be stored');
    const reason = 'It could not be stored.';
    const isLast = visit.page.attempts >= MAX_TRIES;
    const outcome = isLast ? ({ id, outcome: 'failed', reason } as const) : this.triedLater(id, visit.page.attempts, reason, null);
    await this.database.transaction(async (transaction) => {
      if (!(await this.pages.lock(transaction, context.crawl))) throw new CrawlSuperseded();
      await this.pages.note(transaction, context.crawl, context.claim, [outcome]);
    });
  }

  private triedLater(id: string, attempts: number, reason: string, retryAfterMs: number | null): NotedOutcome {
    const pauseMs = retryDelayMs(attempts, retryAfterMs, secureRandomBytes(1).readUInt8() / 255);
    if (pauseMs > MAX_PAUSE_MS) return { id, outcome: 'failed', reason };
    return { id, outcome: null, reason, availableAt: new Date(this.clock.now().getTime() + pauseMs) };
  }

  private async store(context: CrawlContext, { id, at, visit }: Storable): Promise<void> {
    const { organizationId, agentId } = context.crawl;
    const { parsed, etag, lastModified, links } = visit;
    const source = { organizationId, agentId, kind: 'website', key: at.url, title: parsed.title ?? at.url, url: at.url, scope: null } as const;
    const noted = { id, etag, lastModified, links: links.map(({ url }) => url) };
    const accept: WithDocument = (transaction, { documentId }) =>
      this.pages.noteIndexed(transaction, context.crawl, context.claim, { ...noted, documentId });
    const isNew = visit.page.documentId === null && visit.page.url === at.url;
    const stored = await this.index.put(source, parsed, accept, { isNew, withoutVectors: true });
    context.hasNewChunks ||= stored?.unchanged === false;
    // Not accepted: another worker has the page by now, unless the crawl is over.
    if (!stored && !(await this.database.transaction((transaction) => this.pages.lock(transaction, context.crawl)))) {
      throw new CrawlSuperseded();
    }
  }
}

/** Nothing but its document has to be stored. */
function isPlain({ page, at, noindex, canonical }: Read): boolean {
  return page.url === at.url && !noindex && (canonical === null || canonical.url === at.url);
}

function foundIn(context: CrawlContext, visit: Visit): FoundPage[] {
  if (visit.kind === 'later') return [];
  if (visit.kind === 'moved') return [{ ...visit.at, depth: visit.page.depth }];
  const links = context.full ? [] : visit.links;
  if (visit.kind !== 'read') return [...links];
  const { page, at, canonical } = visit;
  const own = { depth: page.depth };
  return [
    ...(at.url === page.url ? [] : [{ ...at, ...own, claimed: true }]),
    ...(canonical === null || canonical.url === at.url || context.full ? [] : [{ ...canonical, ...own }]),
    ...links,
  ];
}

/** Where the page that it is a copy of cannot be had, it stands for itself. */
function isCopy(visit: Read, indexable: ReadonlySet<string>): visit is Read & { readonly canonical: ScopedPage } {
  return visit.canonical !== null && visit.canonical.url !== visit.at.url && indexable.has(visit.canonical.url);
}

/** What was known of the page says nothing of what the next crawl finds. */
function skipped(id: string, reason: string): NotedOutcome {
  return { id, outcome: 'skipped', reason, forget: true };
}

function moved(id: string, to: string): NotedOutcome {
  return { ...skipped(id, `It redirects to ${to}, which is a page of its own.`), movedTo: to };
}

function copy(id: string, of: string): NotedOutcome {
  return { ...skipped(id, `It is a copy of ${of}.`), copyOf: of };
}
