import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { EgressFailed, EgressRefused, type EgressResponse, SafeHttp } from '../../../platform/egress/index.js';
import { MAX_PAGE_BYTES } from '../../limits.js';
import { type HostLease, HostPaused } from '../domain/host-lease.js';
import { askedPauseMs, hostPauseMs } from '../domain/retry-delay.js';
import { forbidsIndexing } from '../domain/robots-file.js';
import { MAX_PAGE_REDIRECTS, PAGE_HEADERS_TIMEOUT_MS, PAGE_TIMEOUT_MS } from '../limits.js';

const ACCEPT = 'text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/pdf;q=0.9, */*;q=0.1';
const TYPES = [
  ...[
    'text/html',
    'application/xhtml+xml',
    'text/plain',
    'text/markdown',
    'text/x-markdown',
    'application/pdf',
    'application/x-pdf',
  ],
  // Servers that do not know a type say so; what it is, its content tells.
  ...['', 'application/octet-stream', 'binary/octet-stream', 'application/unknown', 'unknown/unknown'],
];
const REDIRECTS = [301, 302, 303, 307, 308];
const GONE = [404, 410];
/** Of an address in a reason. */
const SHOWN_CHARACTERS = 300;
/** Besides 5xx: the server had no time for the request, or has none for the moment. */
const FOR_NOW = [408, 425, 429];

/** What became of one request for a page. Texts are public: customers read them as the crawl's last error. */
export type FetchedPage =
  | {
      readonly kind: 'content';
      /** Where it came from, after redirects inside the site. */
      readonly url: string;
      readonly contentType: string | null;
      readonly body: Buffer;
      readonly etag: string | null;
      readonly lastModified: string | null;
      /** `X-Robots-Tag` forbids to index it. */
      readonly noindex: boolean;
    }
  /** As it was when `etag` and `lastModified` were told. */
  | { readonly kind: 'not_modified' }
  /** The server says that there is no such page: 404 or 410. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** Whatever else is wrong for good: another 4xx, too large, a redirect loop, an address that is not public. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Another type, a redirect out of the site. */
  | {
      readonly kind: 'skipped';
      readonly reason: string;
      /** Where another origin is what it redirects to. */ readonly leadsTo?: string;
    }
  /** It redirects to another page, at which it is not the host's turn to be asked for now. */
  | { readonly kind: 'moved'; readonly url: string }
  /** 429, 5xx, no answer: worth another try. */
  | {
      readonly kind: 'later';
      readonly reason: string;
      /** As `Retry-After` says; null where nothing is said. */ readonly retryAfterMs: number | null;
      /** What the server sends is broken, which mostly stays so. */ readonly broken?: true;
    };

export interface PageRequest {
  /** Of the page's host, which is asked on one connection. */
  readonly host: HostLease;
  /** Least time between two requests. */
  readonly crawlDelayMs: number;
  /** Of the last crawl, for a conditional request. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** A pause that the host wants is waited for, in place of `HostPaused`. */
  readonly waits?: boolean;
  /** Asked about each redirect's target: whether it is inside the site, allowed by its robots.txt and not excluded. */
  isWanted(url: URL): boolean;
  /** Asked about a wanted target: whether it can be had later, as a page of its own. A pause of the host is waited for otherwise. */
  isOther(url: URL): boolean;
}

/** A request for one page, on its way through redirects. */
interface Course {
  readonly request: PageRequest;
  readonly signal: AbortSignal;
  /** Requested already. */
  readonly visited: Set<string>;
  /** Of the time for all requests together. */
  leftMs: number;
}

type Step = FetchedPage | { readonly kind: 'redirect'; readonly to: string };

/** Gets one page of a site whose host the process has the lease of. */
@Injectable()
export class HttpPageFetcher {
  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /** @throws HostPaused where the host wants a pause first; the reason of `signal` when it aborts; nothing else that a server could cause */
  async fetch(address: string, request: PageRequest, signal: AbortSignal): Promise<FetchedPage> {
    const first = URL.parse(address);
    if (!first) return { kind: 'failed', reason: 'The address is not valid.' };
    const course: Course = { request, signal, visited: new Set(), leftMs: PAGE_TIMEOUT_MS };
    for (let url = first; ;) {
      const step = await this.stepTo(url, course);
      if (step.kind !== 'redirect') return step;
      const next = URL.parse(step.to, url.href);
      const refused = this.refusal(next, url, course);
      if (refused || !next)
        return refused ?? { kind: 'failed', reason: 'The server redirects to an address that is not valid.' };
      url = next;
    }
  }

  private refusal(next: URL | null, from: URL, { visited, request }: Course): FetchedPage | null {
    if (!next) return null;
    next.hash = '';
    if (next.origin !== from.origin) return leftFor(next);
    if (visited.has(next.href)) return { kind: 'failed', reason: 'The server redirects in a circle.' };
    if (visited.size > MAX_PAGE_REDIRECTS)
      return { kind: 'failed', reason: `The server redirects more than ${MAX_PAGE_REDIRECTS} times.` };
    return request.isWanted(new URL(next))
      ? null
      : { kind: 'skipped', reason: 'The server redirects to a page that is not part of the site or is excluded.' };
  }

  /** A redirect to another page is left to that page where the host wants a pause first: no worker waits for it. */
  private async stepTo(url: URL, course: Course): Promise<Step> {
    url.hash = '';
    course.visited.add(url.href);
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      return { kind: 'failed', reason: 'The address is not an http or https URL.' };
    const { host, crawlDelayMs, waits = false } = course.request;
    const isFirst = course.visited.size === 1;
    if (host.pauseMs > 0) {
      if (isFirst && !waits) throw new HostPaused();
      if (!isFirst && course.request.isOther(new URL(url))) return { kind: 'moved', url: url.href };
      await this.clock.sleep(host.pauseMs, course.signal);
    }
    host.holdBack(crawlDelayMs);
    return this.timed(url, course);
  }

  private async timed(url: URL, course: Course): Promise<Step> {
    const { elapsedMs } = this.clock.stopwatch();
    try {
      return await this.request(url, course);
    } catch (error) {
      course.signal.throwIfAborted();
      return failureOf(error);
    } finally {
      course.leftMs -= elapsedMs();
    }
  }

  private async request(url: URL, { request, signal, leftMs }: Course): Promise<Step> {
    const etag = validator(request.etag);
    const lastModified = validator(request.lastModified);
    const answer = await this.http.request(url, {
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
    const refused = withoutContent(answer, request, now);
    const pauseMs = hostPauseMs(answer, now);
    request.host.holdBack(pauseMs);
    if (!refused) return this.content(answer);
    answer.body.discard();
    return refused;
  }

  private async content({ url, headers, body }: EgressResponse): Promise<FetchedPage> {
    return {
      kind: 'content',
      url,
      contentType: headers['content-type'] ?? null,
      body: await body.buffer(),
      etag: validator(headers['etag']),
      lastModified: validator(headers['last-modified']),
      noindex: forbidsIndexing(headers['x-robots-tag']),
    };
  }
}

/** What the answer says where its body does not matter; null where it does. */
function withoutContent(answer: EgressResponse, { etag, lastModified }: PageRequest, now: Date): Step | null {
  const { status, headers } = answer;
  const location = headers['location'];
  if (REDIRECTS.includes(status) && location !== undefined) return { kind: 'redirect', to: location };
  const reason = `The server answered ${status}.`;
  if (status === 304 && (etag !== null || lastModified !== null)) return { kind: 'not_modified' };
  if (GONE.includes(status)) return { kind: 'gone', reason };
  if (FOR_NOW.includes(status) || status >= 500) {
    return { kind: 'later', reason, retryAfterMs: askedPauseMs(answer, now) };
  }
  if (status !== 200 && status !== 203) return { kind: 'failed', reason };
  const type = mediaType(headers['content-type']);
  return TYPES.includes(type)
    ? null
    : { kind: 'skipped', reason: `The server sends another type: ${printable(type)}.` };
}

/** Only what a person has to enter: a query may hold a secret. */
function leftFor({ origin, pathname }: URL): FetchedPage {
  const address = `${origin}${pathname}`.slice(0, SHOWN_CHARACTERS);
  return { kind: 'skipped', reason: `The server redirects out of the site, to ${address}`, leadsTo: address };
}

/** As a server sent it, if it can be sent back: an odd one would make every later request invalid. */
function validator(header: string | null | undefined): string | null {
  return header && /^[\x20-\x7e]{1,500}$/.test(header) ? header : null;
}

function mediaType(header: string | undefined): string {
  return (
    /^[^;,]*/
      .exec(header ?? '')?.[0]
      .trim()
      .toLowerCase() ?? ''
  );
}

/** It is shown to customers as a server sent it. */
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
      return { kind: 'later', reason: 'The server did not answer in time.', retryAfterMs: null };
    case 'connect':
      return { kind: 'later', reason: 'The server could not be reached.', retryAfterMs: null };
    case 'protocol':
    case 'redirect':
      return {
        kind: 'later',
        reason: 'The answer of the server broke off or was not valid.',
        retryAfterMs: null,
        broken: true,
      };
  }
}
