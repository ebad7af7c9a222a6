import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { EgressFailed, EgressRefused, type EgressResponse, SafeHttp } from '../../../platform/egress/index.js';
import { MAX_PAGE_BYTES } from '../../limits.js';
import { type HostLease, HostPaused } from '../domain/host-lease.js';
import { askedPauseMs, hostPauseMs } from '../domain/retry-delay.js';
import { forbidsIndexing } from '../domain/robots-file.js';
import { MAX_PAGE_REDIRECTS, PAGE_HEADERS_TIMEOUT_MS, PAGE_TIMEOUT_MS } from '../limits.js';

const ACCEPT = 'text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/pdf;q=0.9, */*;q=0.1';
const KNOWN_TYPES = /^(?:text\/(?:html|plain|(?:x-)?markdown)|application\/(?:xhtml\+xml|(?:x-)?pdf))$/;
/** Servers send these types for content that they do not recognize. The parser detects the type from the content. */
const UNKNOWN_TYPES = /^(?:|(?:application|binary)\/octet-stream|(?:application|unknown)\/unknown)$/;
const REDIRECTS = [301, 302, 303, 307, 308];
const NOT_FOUND = [404, 410];
/** Longest part of an address that a reason shows. */
const SHOWN_CHARACTERS = 300;
/** Retried like 5xx. */
const RETRIED = [408, 425, 429];

/** The result of requesting a page. Reasons are public: customers read them as the crawl's last error. */
export type FetchedPage =
  | {
      readonly kind: 'content';
      /** Its address after redirects. */
      readonly url: string;
      readonly contentType: string | null;
      readonly body: Buffer;
      readonly etag: string | null;
      readonly lastModified: string | null;
      /** `X-Robots-Tag` forbids indexing. */
      readonly noindex: boolean;
    }
  | { readonly kind: 'not_modified' }
  /** 404 or 410. */
  | { readonly kind: 'not_found'; readonly reason: string }
  /** Another error that a retry would not change: another 4xx, too large, a redirect loop, an address that is not public. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** A content type that is not indexed, or a redirect out of the site. */
  | {
      readonly kind: 'skipped';
      readonly reason: string;
      /** The address on another origin that it redirects to. */
      readonly redirectsTo?: string;
    }
  /** It redirects to another page, which is not requested now because the host asks for a pause. */
  | { readonly kind: 'redirected'; readonly url: string }
  /** 429, 5xx or no answer: a retry may succeed. */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      /** Of `Retry-After`; null without it. */
      readonly retryAfterMs: number | null;
      /** The response was cut off or invalid, which a retry seldom changes. */
      readonly broken?: true;
    };

export interface PageRequest {
  /** Of the page's host; the caller holds one of its connections. */
  readonly host: HostLease;
  readonly crawlDelayMs: number;
  /** Validators of the last crawl, for a conditional request. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Waits for a pause that the host asks for, instead of throwing `HostPaused`. */
  readonly waitsForPause?: boolean;
  /** Whether a redirect's target is in the site, allowed by its robots.txt and not excluded. */
  isWanted(url: URL): boolean;
  /** Whether a wanted target is another page of the crawl, which can be requested later. For the same page, a pause is waited for. */
  isOtherPage(url: URL): boolean;
}

/** The state of requesting one page through its redirects. */
interface RedirectChain {
  readonly request: PageRequest;
  readonly signal: AbortSignal;
  readonly visited: Set<string>;
  /** What is left of the time for all requests together. */
  leftMs: number;
}

type Step = FetchedPage | { readonly kind: 'redirect'; readonly to: string };

/** Requests a page. The process has the lease of its host. */
@Injectable()
export class HttpPageFetcher {
  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws HostPaused where the host asks for a pause first; the reason of `signal` when it aborts. No response of a server makes it throw. */
  async fetch(address: string, request: PageRequest, signal: AbortSignal): Promise<FetchedPage> {
    const first = URL.parse(address);
    if (!first) return { kind: 'failed', reason: 'The address is not valid.' };
    const chain: RedirectChain = { request, signal, visited: new Set(), leftMs: PAGE_TIMEOUT_MS };
    for (let url = first; ;) {
      const step = await this.requestNext(url, chain);
      if (step.kind !== 'redirect') return step;
      const next = URL.parse(step.to, url.href);
      if (!next) return { kind: 'failed', reason: 'The server redirects to an address that is not valid.' };
      const refused = this.refusal(next, url, chain);
      if (refused) return refused;
      url = next;
    }
  }

  private refusal(next: URL, from: URL, { visited, request }: RedirectChain): FetchedPage | null {
    next.hash = '';
    if (next.origin !== from.origin) return redirectsOut(next);
    if (visited.has(next.href)) return { kind: 'failed', reason: 'The server redirects in a circle.' };
    if (visited.size > MAX_PAGE_REDIRECTS)
      return { kind: 'failed', reason: `The server redirects more than ${MAX_PAGE_REDIRECTS} times.` };
    return request.isWanted(new URL(next))
      ? null
      : { kind: 'skipped', reason: 'The server redirects to a page that is not part of the site or is excluded.' };
  }

  /** Where the host asks for a pause, a redirect to another page is not followed: that page is requested at its own time, and no worker waits. */
  private async requestNext(url: URL, chain: RedirectChain): Promise<Step> {
    url.hash = '';
    chain.visited.add(url.href);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return { kind: 'failed', reason: 'The address is not an http or https URL.' };
    const { host, crawlDelayMs, waitsForPause = false } = chain.request;
    const isFirst = chain.visited.size === 1;
    if (host.pauseMs > 0) {
      if (isFirst && !waitsForPause) throw new HostPaused();
      if (!isFirst && chain.request.isOtherPage(new URL(url))) return { kind: 'redirected', url: url.href };
      await this.clock.sleep(host.pauseMs, chain.signal);
    }
    host.pauseFor(crawlDelayMs);
    const { elapsedMs } = this.clock.stopwatch();
    try {
      return await this.request(url, chain);
    } catch (error) {
      chain.signal.throwIfAborted();
      return failureOf(error);
    } finally {
      chain.leftMs -= elapsedMs();
    }
  }

  private async request(url: URL, { request, signal, leftMs }: RedirectChain): Promise<Step> {
    const etag = validator(request.etag);
    const lastModified = validator(request.lastModified);
    const response = await this.http.request(url, {
      purpose: 'crawl',
      maxBytes: MAX_PAGE_BYTES,
      timeoutMs: Math.max(leftMs, 1),
      headersTimeoutMs: PAGE_HEADERS_TIMEOUT_MS,
      redirects: 'none',
      signal,
      headers: {
        accept: ACCEPT,
        ...(etag !== null && { 'if-none-match': etag }),
        ...(lastModified !== null && { 'if-modified-since': lastModified }),
      },
    });
    const now = this.clock.now();
    const refused = resultWithoutContent(response, request, now);
    request.host.pauseFor(hostPauseMs(response, now));
    const { headers, body } = response;
    if (refused) {
      body.discard();
      return refused;
    }
    return {
      kind: 'content',
      url: response.url,
      contentType: headers['content-type'] ?? null,
      body: await body.buffer(),
      etag: validator(headers['etag']),
      lastModified: validator(headers['last-modified']),
      noindex: forbidsIndexing(headers['x-robots-tag']),
    };
  }
}

/** The result where the response's body is not needed; null where it is. */
function resultWithoutContent(response: EgressResponse, { etag, lastModified }: PageRequest, now: Date): Step | null {
  const { status, headers } = response;
  const location = headers['location'];
  if (REDIRECTS.includes(status) && location !== undefined) return { kind: 'redirect', to: location };
  const reason = `The server answered ${status}.`;
  if (status === 304 && (etag !== null || lastModified !== null)) return { kind: 'not_modified' };
  if (NOT_FOUND.includes(status)) return { kind: 'not_found', reason };
  if (RETRIED.includes(status) || status >= 500) {
    return { kind: 'retry', reason, retryAfterMs: askedPauseMs(response, now) };
  }
  if (status !== 200 && status !== 203) return { kind: 'failed', reason };
  const type =
    /^[^;,]*/
      .exec(headers['content-type'] ?? '')?.[0]
      .trim()
      .toLowerCase() ?? '';
  if (KNOWN_TYPES.test(type) || UNKNOWN_TYPES.test(type)) return null;
  return { kind: 'skipped', reason: `The server sends another type: ${printable(type)}.` };
}

/** Shows no query, which may hold a secret. */
function redirectsOut({ origin, pathname }: URL): FetchedPage {
  const address = `${origin}${pathname}`.slice(0, SHOWN_CHARACTERS);
  return { kind: 'skipped', reason: `The server redirects out of the site, to ${address}`, redirectsTo: address };
}

/** A validator is only stored if it is valid in a request header; every later request would fail otherwise. */
function validator(header: string | null | undefined): string | null {
  return header && /^[\x20-\x7e]{1,500}$/.test(header) ? header : null;
}

function printable(type: string): string {
  return type.replace(/[^\w.+/-]/g, '').slice(0, 60);
}

function failureOf(error: unknown): FetchedPage {
  if (error instanceof EgressRefused) {
    const reason =
      error.reason === 'url' ? 'The address cannot be requested.' : 'The host does not resolve to public addresses.';
    return { kind: 'failed', reason };
  }
  if (!(error instanceof EgressFailed)) throw error;
  switch (error.reason) {
    case 'too_large':
      return { kind: 'failed', reason: `The page is larger than ${MAX_PAGE_BYTES / 1024 / 1024} MiB.` };
    case 'timeout':
      return { kind: 'retry', reason: 'The server did not answer in time.', retryAfterMs: null };
    case 'connect':
      return { kind: 'retry', reason: 'The server could not be reached.', retryAfterMs: null };
    case 'protocol':
    case 'redirect':
      return { kind: 'retry', reason: 'The response was cut off or not valid.', retryAfterMs: null, broken: true };
  }
}
