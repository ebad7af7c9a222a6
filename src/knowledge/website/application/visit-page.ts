import { Injectable } from '@nestjs/common';
import { Clock, TimeSlice } from '../../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../../platform/database/index.js';
import { DomainError } from '../../../platform/errors/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DocumentParser } from '../../parsing/application/document-parser.js';
import type { DocumentFormat } from '../../parsing/domain/parsed-document.js';
import { UnreadableDocument } from '../../parsing/domain/parsing.errors.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import { HostPaused } from '../domain/host-lease.js';
import { hasText } from '../domain/page-text.js';
import { withoutFinalSlash } from '../domain/website-url.js';
import { COMPUTE_SLICE_MS, MAX_BROKEN_TRIES, MAX_TRIES } from '../limits.js';
import type { ClaimedPage, FoundPage, VisitNote } from '../persistence/crawl-pages.repository.js';
import type { CrawlContext } from './host-slice.js';
import { type FetchedPage, HttpPageFetcher } from './http-page-fetcher.js';
import { HttpRobots, type RobotsRules } from './http-robots.js';
import {
  failedNote,
  redirectNote,
  retryNote,
  skippedNote,
  type Visit,
  visitWithContent,
  visitWithNote,
} from './visit.js';

type Content = Extract<FetchedPage, { kind: 'content' }>;

const FORMATS: readonly DocumentFormat[] = ['html', 'text', 'markdown', 'pdf'];
const DISALLOWED = 'robots.txt does not allow it to be fetched.';
const OUTSIDE = 'It redirects out of the site.';
const EMPTY = 'The page has no text. Scripts of pages are not run.';

/** Fetches and reads one page. */
@Injectable()
export class VisitPage {
  constructor(
    private readonly robots: HttpRobots,
    private readonly fetcher: HttpPageFetcher,
    private readonly parser: DocumentParser,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws HostPaused where no request was sent; the reason of the context's signal when it aborts */
  async execute(context: CrawlContext, page: ClaimedPage): Promise<Visit> {
    const { host } = context.slice;
    try {
      const { fetched, rules } = await host.withConnection(async () => {
        context.signal.throwIfAborted();
        if (host.pauseMs > 0) throw new HostPaused();
        // Not older than the crawl: a customer who changes robots.txt and starts a crawl expects the change to count.
        const rules = await this.robots.rulesOf(host, page.origin, context.signal, context.crawl.startedAt);
        return { fetched: await this.fetchAllowed(context, page, rules), rules };
      });
      return await this.visited(context, page, fetched, rules);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof DatabaseUnavailable || error instanceof HostPaused) throw error;
      // One page must not fail the crawl.
      return this.unexpected(context, page, error);
    }
  }

  private async fetchAllowed(context: CrawlContext, page: ClaimedPage, rules: RobotsRules): Promise<FetchedPage> {
    if (rules.closed !== null) return { kind: 'failed', reason: rules.closed };
    if (!rules.allows(new URL(page.url))) return { kind: 'skipped', reason: DISALLOWED };
    // A page has no outcome after so many attempts only if its workers died, perhaps because of it.
    if (page.attempts > MAX_TRIES) return { kind: 'failed', reason: 'It could not be processed.' };
    // Without its document or its links stored, the answer "unchanged" would be of no use.
    const isKnown = page.documentId !== null && page.links !== null;
    const request = {
      host: context.slice.host,
      crawlDelayMs: rules.crawlDelayMs,
      etag: isKnown ? page.etag : null,
      lastModified: isKnown ? page.lastModified : null,
      isWanted: (url: URL): boolean => context.scope.targetAt(url.href) !== null && rules.allows(url),
      isOtherPage: (url: URL): boolean => context.scope.targetAt(url.href)?.url !== page.url,
    };
    const fetched = await this.fetcher.fetch(page.url, request, context.signal);
    // This service added the slash at the end of a root; some servers have the page only without it.
    const bare = fetched.kind === 'not_found' && context.scope.isRoot(page) ? withoutFinalSlash(page.url) : null;
    return bare === null ? fetched : this.fetcher.fetch(bare, { ...request, waitsForPause: true }, context.signal);
  }

  private async visited(
    context: CrawlContext,
    page: ClaimedPage,
    fetched: FetchedPage,
    rules: RobotsRules,
  ): Promise<Visit> {
    switch (fetched.kind) {
      case 'content':
        return this.read(context, page, fetched, rules);
      case 'not_modified':
        return visitWithNote(
          page,
          { id: page.id, state: 'done', outcome: 'indexed', reason: null },
          await linkedPages(context, page, page.links ?? [], rules),
        );
      case 'not_found':
        return visitWithNote(page, failedNote(page, fetched.reason, true));
      case 'failed':
        return this.failed(context, page, fetched.reason, rules);
      case 'skipped':
        return visitWithNote(page, skippedPageNote(context, page, fetched));
      case 'redirected': {
        const at = context.scope.targetAt(fetched.url);
        return at
          ? visitWithNote(page, redirectNote(page, at.url), [{ ...at, depth: page.depth }])
          : visitWithNote(page, skippedNote(page.id, OUTSIDE));
      }
      case 'retry':
        if (page.attempts >= (fetched.broken ? MAX_BROKEN_TRIES : MAX_TRIES))
          return this.failed(context, page, fetched.reason, rules);
        return visitWithNote(page, retryNote(page, fetched.reason, this.clock.now(), fetched.retryAfterMs));
    }
  }

  /** The links that a failed page had are followed. Those of a root are not: the whole site may be unavailable. */
  private async failed(context: CrawlContext, page: ClaimedPage, reason: string, rules: RobotsRules): Promise<Visit> {
    const links =
      rules.closed !== null || context.scope.isRoot(page)
        ? []
        : await linkedPages(context, page, page.links ?? [], rules);
    return visitWithNote(page, failedNote(page, reason), links);
  }

  private async read(context: CrawlContext, page: ClaimedPage, fetched: Content, rules: RobotsRules): Promise<Visit> {
    const at = context.scope.targetAt(fetched.url);
    if (!at) return visitWithNote(page, skippedNote(page.id, OUTSIDE));
    try {
      const { organizationId } = context.crawl;
      const { body, contentType, url, etag, lastModified } = fetched;
      const request = { organizationId, contentType, name: null, url, formats: FORMATS, size: body.length };
      const { page: facts, ...parsed } = await this.parser.parse({ ...request, content: () => [body] }, context.signal);
      const named = facts?.refresh ? [...facts.links, facts.refresh] : (facts?.links ?? []);
      const links = await linkedPages(context, { ...at, depth: page.depth }, named, rules);
      const noindex = facts?.noindex === true || fetched.noindex;
      if (!noindex && !hasText(parsed.blocks)) return visitWithNote(page, failedNote(page, EMPTY), links);
      const canonicalPage = facts?.canonical ? context.scope.pageAt(facts.canonical) : null;
      const canonical = canonicalPage?.url === at.url ? null : canonicalPage;
      const found = canonical ? [...links, { ...canonical, depth: page.depth }] : links;
      const urls = links.map((link) => link.url);
      const content = { ...parsed, canonical: canonical?.url ?? null, links: urls, etag, lastModified };
      if (at.url === page.url) return { ...visitWithContent(page, content, noindex), found };
      return {
        ...visitWithNote(page, redirectNote(page, at.url), [{ ...at, depth: page.depth, claimed: true }, ...found]),
        redirectedTo: { page: at, content, noindex },
      };
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof UnreadableDocument)) return this.unexpected(context, page, error);
      if (error.reason === 'unsupported_type') return visitWithNote(page, skippedNote(page.id, error.message));
      return this.failed(context, page, error.message, rules);
    }
  }

  private unexpected(context: CrawlContext, page: ClaimedPage, error: unknown): Visit {
    this.logger.warn({ err: error, url: page.url, crawlId: context.crawl.crawlId }, 'A page could not be read');
    const reason = error instanceof DomainError ? error.message : 'It could not be read.';
    return visitWithNote(page, retryNote(page, reason, this.clock.now()));
  }
}

function skippedPageNote(
  { scope }: CrawlContext,
  page: ClaimedPage,
  { reason, redirectsTo }: Extract<FetchedPage, { kind: 'skipped' }>,
): VisitNote {
  if (redirectsTo === undefined) return skippedNote(page.id, reason);
  return {
    ...skippedNote(page.id, scope.isRoot(page) ? `${reason} - enter that address instead.` : reason),
    movedTo: redirectsTo,
  };
}

/** The linked pages that the crawl may follow, at most as many as its budget. */
async function linkedPages(
  context: CrawlContext,
  from: ScopedPage & { readonly depth: number },
  links: readonly string[],
  rules: RobotsRules,
): Promise<FoundPage[]> {
  if (!context.scope.followsLinksOf(from)) return [];
  const found = new Map<string, FoundPage>();
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  for (const link of links) {
    await slice.rest();
    const page = context.scope.pageAt(link);
    if (!page || page.url === from.url || found.has(page.url)) continue;
    // The robots.txt of another origin is read when the page is visited.
    const isAllowed = page.origin !== from.origin || rules.allows(new URL(page.url));
    found.set(page.url, { ...page, depth: from.depth + 1, ...(isAllowed ? {} : { disallowed: DISALLOWED }) });
    if (found.size >= context.budget) break;
  }
  return [...found.values()];
}
