import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { type EgressBody, EgressFailed, EgressRefused, SafeHttp } from '../../../platform/egress/index.js';
import type { HostLease } from '../domain/host-lease.js';
import { hostPauseMs } from '../domain/retry-delay.js';
import type { SitemapFile, UnreadSitemaps } from '../domain/unread-sitemaps.js';
import {
  MAX_BUSY_TRIES,
  MAX_SITEMAP_ADDRESS,
  MAX_SITEMAP_BYTES,
  MAX_SITEMAP_DEPTH,
  MAX_SITEMAP_FILES,
  MAX_SITEMAP_REDIRECTS,
  SITEMAP_TIMEOUT_MS,
  SITEMAPS_TIMEOUT_MS,
} from '../limits.js';
import { HostLeases } from '../persistence/host-leases.repository.js';
import { type Location, locationsIn } from './sitemap-content.js';

export interface SitemapRequest {
  /** Of the site. Files on other hosts are read when no other process has their lease. */
  readonly host: HostLease;
  readonly origin: string;
  readonly crawlDelayMs: number;
  /** Those that robots.txt names; where it names none, `/sitemap.xml` is requested. */
  readonly sitemaps: readonly string[];
  /** What an earlier slice did not get to; null in the first one. */
  readonly unread: UnreadSitemaps | null;
  readonly maxUrls: number;
  isWanted(url: URL): boolean;
  /** Where true, no further file is read. The first file always is. */
  isOver(): boolean;
}

export interface ListedPages {
  readonly pages: readonly string[];
  /** What is still to be read; null for nothing. */
  readonly unread: UnreadSitemaps | null;
  /** Another process has the lease of the host of an unread file. */
  readonly isBusy: boolean;
}

/** The files and pages of a site's sitemaps, as far as they were read. */
class Listing {
  readonly pages = new Set<string>();
  spentMs: number;
  private readonly waiting: SitemapFile[];
  private readonly known: Set<string>;

  constructor(readonly request: SitemapRequest) {
    this.waiting = [...(request.unread?.waiting ?? [])];
    this.known = new Set(request.unread?.known);
    this.spentMs = request.unread?.spentMs ?? 0;
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

  unread(): UnreadSitemaps | null {
    const isOver = this.full || this.waiting.length === 0 || this.spentMs >= SITEMAPS_TIMEOUT_MS;
    return isOver ? null : { waiting: this.waiting, known: [...this.known], spentMs: this.spentMs };
  }

  /** After `MAX_BUSY_TRIES` the file is left out, because the crawl waits for it. */
  tryLater(file: SitemapFile): void {
    if (file.busy < MAX_BUSY_TRIES) this.waiting.push({ ...file, busy: file.busy + 1 });
  }

  /** Files that an index names must be on the site's host or the index's. Otherwise an index could send this service to any host. */
  add({ kind, text }: Location, { url: address, depth }: Pick<SitemapFile, 'url' | 'depth'>): void {
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
    if (
      !url ||
      url.href.length > MAX_SITEMAP_ADDRESS ||
      depth > MAX_SITEMAP_DEPTH ||
      this.known.size >= MAX_SITEMAP_FILES ||
      this.known.has(url.href)
    )
      return;
    this.known.add(url.href);
    this.waiting.push({ url: url.href, depth, busy: 0 });
  }
}

/** Reads sitemaps and sitemap indexes, compressed or not, one file at a time, in bounded time and memory. */
@Injectable()
export class HttpSitemaps {
  constructor(
    private readonly http: SafeHttp,
    private readonly leases: HostLeases,
    private readonly clock: Clock,
  ) {}

  /**
   * The wanted pages, each once, in the order of the files. A file that cannot be read is left out. Of a host with a crawl
   * delay one file is read.
   * @throws the reason of `signal` when it aborts
   */
  async pagesOf(request: SitemapRequest, signal: AbortSignal): Promise<ListedPages> {
    const listing = new Listing(request);
    const busy: SitemapFile[] = [];
    for (let file = listing.next(); file; file = listing.next()) {
      const { elapsedMs } = this.clock.stopwatch();
      if (!(await this.readFile(file, listing, signal))) busy.push(file);
      listing.spentMs += elapsedMs();
      if (listing.spentMs >= SITEMAPS_TIMEOUT_MS || request.isOver()) break;
    }
    for (const file of busy) listing.tryLater(file);
    return { pages: [...listing.pages], unread: listing.unread(), isBusy: busy.length > 0 };
  }

  /** @returns false where another process has the lease of the file's host */
  private async readFile(file: SitemapFile, listing: Listing, signal: AbortSignal): Promise<boolean> {
    const { host, origin, crawlDelayMs } = listing.request;
    const url = new URL(file.url);
    if (url.origin === origin) {
      host.pauseFor(crawlDelayMs);
      await this.read(file, host, listing, signal);
      return true;
    }
    const other = await this.leases.take(url.origin);
    if (!other) return false;
    try {
      // A crawl waits for pauses of its site's host only.
      if (other.pauseMs === 0) await this.read(file, other, listing, signal);
    } finally {
      await this.leases.release(other);
    }
    return true;
  }

  /** A file whose response asks for a pause is not retried: a host that always asks for one would keep the crawl from ending. */
  private async read(file: SitemapFile, host: HostLease, listing: Listing, signal: AbortSignal): Promise<void> {
    try {
      const response = await this.http.request(new URL(file.url), {
        purpose: 'crawl',
        maxBytes: MAX_SITEMAP_BYTES,
        timeoutMs: SITEMAP_TIMEOUT_MS,
        redirects: { max: MAX_SITEMAP_REDIRECTS },
        signal,
        headers: { accept: 'application/xml, text/xml, text/plain, application/gzip, */*;q=0.1' },
      });
      host.pauseFor(hostPauseMs(response, this.clock.now()));
      if (response.status === 200) await this.list(response.body, file, listing);
      else response.body.discard();
    } catch (error) {
      signal.throwIfAborted();
      // The site's other sitemaps may be readable.
      if (!(error instanceof EgressFailed || error instanceof EgressRefused)) throw error;
    }
    // `locationsIn` ends without an error when its source aborts.
    signal.throwIfAborted();
  }

  private async list(body: EgressBody, file: SitemapFile, listing: Listing): Promise<void> {
    for await (const location of locationsIn(body)) {
      listing.add(location, file);
      if (listing.full) break;
    }
    // The stream may still wait for more of the body.
    body.discard();
  }
}
