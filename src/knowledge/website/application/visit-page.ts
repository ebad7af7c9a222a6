import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../../platform/database/index.js';
import { DomainError } from '../../../platform/errors/index.js';
import { Logger } from '../../../platform/telemetry/index.js';
import { HostPaused } from './host-slots.js';
import { type FetchedPage, PageFetcher } from './page-fetcher.js';
import type { RobotsRules } from './robots.js';
import { onePart } from '../../parsing/domain/one-part.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import { UnreadableDocument } from '../../parsing/domain/parsing.errors.js';
import type { DocumentFormat, ParsedDocument } from '../../parsing/domain/parsed-document.js';
import { withoutFinalSlash } from '../domain/website-url.js';
import { DocumentParser } from '../../parsing/application/document-parser.js';
import type { ClaimedPage, FoundPage } from '../persistence/crawl-pages.repository.js';
import type { CrawlContext } from './crawl-context.js';
import { MAX_BROKEN_TRIES, MAX_TRIES } from '../limits.js';

/** What one visit to a page came to; nothing of it is stored yet. */
export type Visit =
  | {
      readonly kind: 'read';
      readonly page: ClaimedPage;
      /** The page whose content it is: another one where the server redirected there. */
      readonly at: ScopedPage;
      readonly parsed: ParsedDocument;
      readonly noindex: boolean;
      /** The page that this one says it is a copy of, where the crawl may go there. */
      readonly canonical: ScopedPage | null;
      readonly links: readonly FoundPage[];
      readonly etag: string | null;
      readonly lastModified: string | null;
    }
  | { readonly kind: 'unchanged'; readonly page: ClaimedPage; readonly links: readonly FoundPage[] }
  | { readonly kind: 'failed'; readonly page: ClaimedPage; readonly reason: string; readonly gone: boolean; readonly links: readonly FoundPage[] }
  | { readonly kind: 'skipped'; readonly page: ClaimedPage; readonly reason: string; readonly links: readonly FoundPage[] }
  /** It redirects to another page, which is to be visited in its own turn. */
  | { readonly kind: 'moved'; readonly page: ClaimedPage; readonly at: ScopedPage }
  | { readonly kind: 'later'; readonly page: ClaimedPage; readonly reason: string; readonly retryAfterMs: number | null };

type Content = Extract<FetchedPage, { kind: 'content' }>;

const FORMATS: readonly DocumentFormat[] = ['html', 'text', 'markdown', 'pdf'];
export const DISALLOWED = 'robots.txt does not allow it to be fetched.';
const OUTSIDE = 'It redirects out of the site.';
/** Reading the links of a page leaves the event loop to others after so many milliseconds. */
const SLICE_MS = 10;

/** Fetches and reads one page. */
@Injectable()
export class VisitPage {
  constructor(
    private readonly fetcher: PageFetcher,
    private readonly parser: DocumentParser,
    private readonly logger: Logger,
  ) {}

  /**
   * @param onFetched called once nothing is asked of the page's host any more
   * @throws HostPaused where nothing was asked; the reason of the context's signal when it aborts
   */
  async execute(context: CrawlContext, page: ClaimedPage, onFetched: () => void): Promise<Visit> {
    try {
      return await this.visit(context, page, onFetched);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof DatabaseUnavailable || error instanceof HostPaused) throw error;
      // A page that some code cannot cope with must not keep the crawl from its end.
      return this.unexpected(context, page, error);
    }
  }

  private async visit(context: CrawlContext, page: ClaimedPage, onFetched: () => void): Promise<Visit> {
    const rules = await context.rulesOf(page.origin);
    if (rules.closed !== null) return this.failed(context, page, rules.closed);
    if (!rules.allows(new URL(page.url))) return { kind: 'skipped', page, reason: DISALLOWED, links: [] };
    // Only a worker that died, or lost the page, leaves it without an outcome: a page that ends workers ends here.
    if (page.attempts > MAX_TRIES) return this.failed(context, page, 'It could not be processed.');
    const fetched = await this.fetch(context, page);
    onFetched();
    switch (fetched.kind) {
      case 'content':
        return this.read(context, page, fetched);
      case 'not_modified':
        return { kind: 'unchanged', page, links: await linksOf(context, page, page.links ?? [], rules) };
      case 'gone':
        return { kind: 'failed', page, reason: fetched.reason, gone: true, links: [] };
      case 'failed':
        return this.failed(context, page, fetched.reason);
      case 'skipped':
        return { kind: 'skipped', page, reason: fetched.reason, links: [] };
      case 'moved':
        return this.moved(context, page, fetched.url);
      case 'later':
        if (page.attempts >= (fetched.broken ? MAX_BROKEN_TRIES : MAX_TRIES)) return this.failed(context, page, fetched.reason);
        return { kind: 'later', page, reason: fetched.reason, retryAfterMs: fetched.retryAfterMs };
    }
  }

  /** What lay behind a page that fails today is still looked at; behind a root that fails, a whole site may be away. */
  private async failed(context: CrawlContext, page: ClaimedPage, reason: string): Promise<Visit> {
    const rules = await context.rulesOf(page.origin);
    const links = context.scope.isRoot(page) || rules.closed !== null ? [] : await linksOf(context, page, page.links ?? [], rules);
    return { kind: 'failed', page, reason, gone: false, links };
  }

  private async fetch(context: CrawlContext, page: ClaimedPage): Promise<FetchedPage> {
    // Without its document, or its links, the page is needed whole.
    const isKnown = page.documentId !== null && page.links !== null;
    const request = {
      etag: isKnown ? page.etag : null,
      lastModified: isKnown ? page.lastModified : null,
      isWanted: async (url: URL): Promise<boolean> => {
        const target = context.scope.targetAt(url.href);
        return target !== null && (await context.rulesOf(target.origin)).allows(url);
      },
      isOther: (url: URL): boolean => context.scope.targetAt(url.href)?.url !== page.url,
    };
    const fetched = await this.fetcher.fetch(page.url, request, context.signal);
    // The slash at the end of a root is the service's own; some servers have the page only without it.
    const bare = fetched.kind === 'gone' && context.scope.isRoot(page) ? withoutFinalSlash(page.url) : null;
    return bare === null ? fetched : this.fetcher.fetch(bare, { ...request, waits: true }, context.signal);
  }

  private moved(context: CrawlContext, page: ClaimedPage, url: string): Visit {
    const at = context.scope.targetAt(url);
    return at ? { kind: 'moved', page, at } : { kind: 'skipped', page, reason: OUTSIDE, links: [] };
  }

  private async read(context: CrawlContext, page: ClaimedPage, content: Content): Promise<Visit> {
    const at = context.scope.targetAt(content.url);
    if (!at) return { kind: 'skipped', page, reason: OUTSIDE, links: [] };
    try {
      const parsed = await this.parse(context, content);
      const { canonical = null, noindex = false, links = [], refresh = null } = parsed.page ?? {};
      const rules = await context.rulesOf(at.origin);
      return {
        kind: 'read',
        page,
        at,
        parsed,
        noindex: noindex || content.noindex,
        canonical: canonical === null ? null : context.scope.pageAt(canonical),
        links: await linksOf(context, { ...at, depth: page.depth }, refresh === null ? links : [...links, refresh], rules),
        etag: content.etag,
        lastModified: content.lastModified,
      };
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof UnreadableDocument)) return this.unexpected(context, page, error);
      if (error.reason === 'unsupported_type') return { kind: 'skipped', page, reason: error.message, links: [] };
      return this.failed(context, page, error.message);
    }
  }

  private parse({ crawl, signal }: CrawlContext, { body, contentType, url }: Content): Promise<ParsedDocument> {
    const { organizationId } = crawl;
    const document = { organizationId, content: () => onePart(body), size: body.length, contentType, name: null, url, formats: FORMATS };
    return this.parser.parse(document, signal);
  }

  private unexpected(context: CrawlContext, page: ClaimedPage, error: unknown): Promise<Visit> | Visit {
    this.logger.warn({ err: error, url: page.url, crawlId: context.crawl.crawlId }, 'A page could not be read');
    const reason = error instanceof DomainError ? error.message : 'It could not be read.';
    if (page.attempts >= MAX_TRIES) return this.failed(context, page, reason);
    return { kind: 'later', page, reason, retryAfterMs: null };
  }
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
  const slice = new TimeSlice(SLICE_MS);
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
