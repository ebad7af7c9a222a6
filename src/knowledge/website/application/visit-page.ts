import { Injectable } from '@nestjs/common';
import { Clock, TimeSlice } from '../../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../../platform/database/index.js';
import { DomainError } from '../../../platform/errors/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { DocumentParser } from '../../parsing/application/document-parser.js';
import { onePart } from '../../parsing/domain/one-part.js';
import type { DocumentFormat, ParsedDocument } from '../../parsing/domain/parsed-document.js';
import { UnreadableDocument } from '../../parsing/domain/parsing.errors.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import { HostPaused } from '../domain/host-lease.js';
import { hasText } from '../domain/page-text.js';
import { withoutFinalSlash } from '../domain/website-url.js';
import { COMPUTE_SLICE_MS, MAX_BROKEN_TRIES, MAX_TRIES } from '../limits.js';
import type { ClaimedPage, FoundPage, NotedVisit } from '../persistence/crawl-pages.repository.js';
import type { CrawlContext } from './host-slice.js';
import { type FetchedPage, HttpPageFetcher } from './http-page-fetcher.js';
import { HttpRobots, type RobotsRules } from './http-robots.js';
import { failedNote, laterNote, movedNote, ofReading, skippedNote, type Visit, visitOf } from './visit.js';

type Content = Extract<FetchedPage, { kind: 'content' }>;

const FORMATS: readonly DocumentFormat[] = ['html', 'text', 'markdown', 'pdf'];
const DISALLOWED = 'robots.txt does not allow it to be fetched.';
const OUTSIDE = 'It redirects out of the site.';
const EMPTY = 'The page has no text; a script may have to make it, which this service does not run.';

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

  /** @throws HostPaused where nothing was asked; the reason of the context's signal when it aborts */
  async execute(context: CrawlContext, page: ClaimedPage): Promise<Visit> {
    const { host } = context.slice;
    try {
      const { fetched, rules } = await host.connected(async () => {
        context.signal.throwIfAborted();
        if (host.pauseMs > 0) throw new HostPaused();
        // None that is older than the crawl: a customer who changes the file and has the site crawled expects it to count.
        const rules = await this.robots.rulesOf(host, page.origin, context.signal, context.crawl.startedAt);
        return { fetched: await this.fetchAllowed(context, page, rules), rules };
      });
      return await this.visited(context, page, fetched, rules);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof DatabaseUnavailable || error instanceof HostPaused) throw error;
      // A page that some code cannot cope with must not keep the crawl from its end.
      return this.unexpected(context, page, error);
    }
  }

  private async fetchAllowed(context: CrawlContext, page: ClaimedPage, rules: RobotsRules): Promise<FetchedPage> {
    if (rules.closed !== null) return { kind: 'failed', reason: rules.closed };
    if (!rules.allows(new URL(page.url))) return { kind: 'skipped', reason: DISALLOWED };
    // Only a worker that died leaves a page without an outcome: a page that ends workers ends here.
    if (page.attempts > MAX_TRIES) return { kind: 'failed', reason: 'It could not be processed.' };
    // Without its document, or its links, the page is needed whole.
    const isKnown = page.documentId !== null && page.links !== null;
    const request = {
      host: context.slice.host,
      crawlDelayMs: rules.crawlDelayMs,
      etag: isKnown ? page.etag : null,
      lastModified: isKnown ? page.lastModified : null,
      isWanted: (url: URL): boolean => context.scope.targetAt(url.href) !== null && rules.allows(url),
      isOther: (url: URL): boolean => context.scope.targetAt(url.href)?.url !== page.url,
    };
    const fetched = await this.fetcher.fetch(page.url, request, context.signal);
    // The slash at the end of a root is the service's own; some servers have the page only without it.
    const bare = fetched.kind === 'gone' && context.scope.isRoot(page) ? withoutFinalSlash(page.url) : null;
    return bare === null ? fetched : this.fetcher.fetch(bare, { ...request, waits: true }, context.signal);
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
        return visitOf(
          page,
          { id: page.id, state: 'done', outcome: 'indexed', reason: null },
          await linksOf(context, page, page.links ?? [], rules),
        );
      case 'gone':
        return visitOf(page, failedNote(page, fetched.reason, true));
      case 'failed':
        return this.failed(context, page, fetched.reason, rules);
      case 'skipped':
        return visitOf(page, skipped(context, page, fetched));
      case 'moved': {
        const at = context.scope.targetAt(fetched.url);
        return at
          ? visitOf(page, movedNote(page, at.url), [{ ...at, depth: page.depth }])
          : visitOf(page, skippedNote(page.id, OUTSIDE));
      }
      case 'later':
        if (page.attempts >= (fetched.broken ? MAX_BROKEN_TRIES : MAX_TRIES))
          return this.failed(context, page, fetched.reason, rules);
        return visitOf(page, laterNote(page, fetched.reason, this.clock.now(), fetched.retryAfterMs));
    }
  }

  /** What lay behind a page that fails today is still looked at; behind a root that fails, a whole site may be away. */
  private async failed(context: CrawlContext, page: ClaimedPage, reason: string, rules: RobotsRules): Promise<Visit> {
    const links =
      rules.closed !== null || context.scope.isRoot(page) ? [] : await linksOf(context, page, page.links ?? [], rules);
    return visitOf(page, failedNote(page, reason), links);
  }

  private async read(context: CrawlContext, page: ClaimedPage, fetched: Content, rules: RobotsRules): Promise<Visit> {
    const at = context.scope.targetAt(fetched.url);
    if (!at) return visitOf(page, skippedNote(page.id, OUTSIDE));
    try {
      const { page: facts, ...parsed } = await this.parse(context, fetched);
      const named = facts?.refresh ? [...facts.links, facts.refresh] : (facts?.links ?? []);
      const links = await linksOf(context, { ...at, depth: page.depth }, named, rules);
      const noindex = facts?.noindex === true || fetched.noindex;
      if (!noindex && !hasText(parsed.blocks)) return visitOf(page, failedNote(page, EMPTY), links);
      const canonicalPage = facts?.canonical ? context.scope.pageAt(facts.canonical) : null;
      const canonical = canonicalPage?.url === at.url ? null : canonicalPage;
      const found = canonical ? [...links, { ...canonical, depth: page.depth }] : links;
      const { etag, lastModified } = fetched;
      const content = {
        ...parsed,
        canonical: canonical?.url ?? null,
        links: links.map(({ url }) => url),
        etag,
        lastModified,
      };
      if (at.url === page.url) return { ...ofReading(page, content, noindex), found };
      return {
        ...visitOf(page, movedNote(page, at.url), [{ ...at, depth: page.depth, claimed: true }, ...found]),
        arrived: { at, content, noindex },
      };
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof UnreadableDocument)) return this.unexpected(context, page, error);
      if (error.reason === 'unsupported_type') return visitOf(page, skippedNote(page.id, error.message));
      return this.failed(context, page, error.message, rules);
    }
  }

  private parse({ crawl, signal }: CrawlContext, { body, contentType, url }: Content): Promise<ParsedDocument> {
    const { organizationId } = crawl;
    const document = {
      organizationId,
      content: () => onePart(body),
      size: body.length,
      contentType,
      name: null,
      url,
      formats: FORMATS,
    };
    return this.parser.parse(document, signal);
  }

  private unexpected(context: CrawlContext, page: ClaimedPage, error: unknown): Visit {
    this.logger.warn({ err: error, url: page.url, crawlId: context.crawl.crawlId }, 'A page could not be read');
    const reason = error instanceof DomainError ? error.message : 'It could not be read.';
    return visitOf(page, laterNote(page, reason, this.clock.now()));
  }
}

function skipped(
  { scope }: CrawlContext,
  page: ClaimedPage,
  { reason, leadsTo }: Extract<FetchedPage, { kind: 'skipped' }>,
): NotedVisit {
  if (leadsTo === undefined) return skippedNote(page.id, reason);
  return {
    ...skippedNote(page.id, scope.isRoot(page) ? `${reason} - enter that address instead.` : reason),
    movedTo: leadsTo,
  };
}

/** The pages that links lead to, where the crawl may follow them; as many as it may have in all. */
async function linksOf(
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
    // Another host's rules are asked when it is the page's turn.
    const isAllowed = page.origin !== from.origin || rules.allows(new URL(page.url));
    found.set(page.url, { ...page, depth: from.depth + 1, ...(isAllowed ? {} : { disallowed: DISALLOWED }) });
    if (found.size >= context.budget) break;
  }
  return [...found.values()];
}
