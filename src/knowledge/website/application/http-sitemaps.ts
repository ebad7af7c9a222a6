import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { type EgressBody, EgressFailed, EgressRefused, SafeHttp } from '../../../platform/egress/index.js';
import { codeOf } from '../../../platform/errors/index.js';
import { hostOf } from '../domain/host.js';
import { HostPaused, HostSlots } from './host-slots.js';
import {
  MAX_SITEMAP_ADDRESS, MAX_SITEMAP_BYTES, MAX_SITEMAP_DEPTH, MAX_SITEMAP_FILES, MAX_SITEMAP_REDIRECTS, SITEMAP_TIMEOUT_MS, SITEMAPS_TIMEOUT_MS,
} from '../crawl-limits.js';
import { hostPauseMs } from '../domain/retry-delay.js';
import { Robots } from './robots.js';
import { locationsIn } from './sitemap-content.js';
import type { Location } from '../domain/sitemap-reader.js';
import { type ListedPages, type SitemapFile, type SitemapRequest, Sitemaps, type UnreadSitemaps } from './sitemaps.js';

/** What is known of a site's sitemaps so far. */
class Listing {
  readonly pages = new Set<string>();
  private readonly waiting: SitemapFile[];
  private readonly known: Set<string>;

  constructor(readonly request: SitemapRequest) {
    this.waiting = [...(request.unread?.waiting ?? [])];
    this.known = new Set(request.unread?.known);
    if (request.unread) return;
    const named = request.sitemaps.length > 0 ? request.sitemaps : [`${request.origin}/sitemap.xml`];
    for (const address of named) this.addFile(URL.parse(address), 0);
  }

  get full(): boolean {
    return this.pages.size >= this.request.maxUrls;
  }

  next(): SitemapFile | undefined {
    return this.full ? undefined : this.waiting.shift();
  }

  /** Null when nothing is left. */
  unread(): UnreadSitemaps | null {
    return this.full || this.waiting.length === 0 ? null : { waiting: this.waiting, known: [...this.known] };
  }

  putBack(file: SitemapFile): void {
    this.waiting.unshift(file);
  }

  /** Only what a site's robots.txt names may be elsewhere: an index that could name any host would have this service ask them all. */
  add({ kind, text }: Location, { url: address, depth }: SitemapFile): void {
    const url = URL.parse(text);
    if (!url) return;
    url.hash = '';
    if (kind === 'page') this.addPage(url);
    else if ([this.request.origin, new URL(address).origin].includes(url.origin)) this.addFile(url, depth + 1);
  }

  private addPage(url: URL): void {
    if (this.full || url.origin !== this.request.origin || this.pages.has(url.href)) return;
    if (this.request.isWanted(new URL(url))) this.pages.add(url.href);
  }

  private addFile(url: URL | null, depth: number): void {
    if (!url || url.href.length > MAX_SITEMAP_ADDRESS || depth > MAX_SITEMAP_DEPTH || this.known.size >= MAX_SITEMAP_FILES || this.known.has(url.href)) return;
    this.known.add(url.href);
    this.waiting.push({ url: url.href, depth });
  }
}

/** `Sitemaps` over HTTP: files are read as they come, and only what is asked for is kept of them. */
@Injectable()
export class HttpSitemaps extends Sitemaps {
  constructor(
    private readonly http: SafeHttp,
    private readonly robots: Robots,
    private readonly slots: HostSlots,
    private readonly clock: Clock,
  ) {
    super();
  }

  async pagesOf(request: SitemapRequest, signal: AbortSignal): Promise<ListedPages> {
    const listing = new Listing(request);
    let unread: UnreadSitemaps | null = null;
    const deadline = new AbortController();
    const cancel = this.clock.after(SITEMAPS_TIMEOUT_MS, () => deadline.abort(new EgressFailed('timeout', { detail: 'the sitemaps' })));
    try {
      unread = await this.readAll(listing, AbortSignal.any([signal, deadline.signal]));
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.signal.aborted) throw error;
    } finally {
      cancel();
    }
    return { pages: [...listing.pages], unread };
  }

  /** @returns what has to wait for the host's next turn */
  private async readAll(listing: Listing, signal: AbortSignal): Promise<UnreadSitemaps | null> {
    const { origin } = listing.request;
    const { crawlDelayMs } = await this.robots.rulesOf(origin, signal);
    let isFirst = true;
    for (let file = listing.next(); file; file = listing.next()) {
      const url = new URL(file.url);
      const pace = { delayMs: url.origin === origin ? crawlDelayMs : 0, inTurnOnly: true };
      const next = file;
      // Another host than the site's, which a crawl does not wait for.
      if (url.origin !== origin && this.slots.knownPauseMs(hostOf(url)) > 0) continue;
      try {
        const pauseAsked = await this.slots.within(hostOf(url), pace, () => this.read(next, listing, signal), signal);
        if (pauseAsked) return listing.unread();
      } catch (error) {
        if (!(error instanceof HostPaused) || isFirst) throw error;
        listing.putBack(next);
        return listing.unread();
      }
      isFirst = false;
    }
    return null;
  }

  /** @returns whether the host wants to be left alone, in which case the file itself is given up: a host that always does would have no crawl end */
  private async read(file: SitemapFile, listing: Listing, signal: AbortSignal): Promise<boolean> {
    try {
      const answer = await this.http.request(new URL(file.url), {
        purpose: 'crawl', maxBytes: MAX_SITEMAP_BYTES, timeoutMs: SITEMAP_TIMEOUT_MS, redirects: { max: MAX_SITEMAP_REDIRECTS }, signal,
        headers: { accept: 'application/xml, text/xml, text/plain, application/gzip, */*;q=0.1' },
      });
      if (answer.status === 200) await this.list(answer.body, file, listing);
      else answer.body.discard();
      const pauseMs = hostPauseMs(answer, this.clock.now());
      if (pauseMs > 0) await this.slots.holdBack(hostOf(new URL(answer.url)), pauseMs);
      return pauseMs > 0;
    } catch (error) {
      signal.throwIfAborted();
      // What was listed before counts; the site's other sitemaps may be in order.
      if (!isOfTheServer(error)) throw error;
      return false;
    }
  }

  private async list(body: EgressBody, file: SitemapFile, listing: Listing): Promise<void> {
    try {
      for await (const location of locationsIn(body)) {
        listing.add(location, file);
        if (listing.full) break;
      }
    } finally {
      // Whoever decompresses it may still wait for more.
      body.discard();
    }
  }
}

/** It could not be reached, broke off, is too long or not compressed as it says. */
function isOfTheServer(error: unknown): boolean {
  return error instanceof EgressFailed || error instanceof EgressRefused || (codeOf(error) ?? '').startsWith('Z_');
}
