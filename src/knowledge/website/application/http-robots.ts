import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { TtlCache } from '../../../platform/cache/index.js';
import { Clock, untilAborted } from '../../../platform/clock/index.js';
import { EgressFailed, EgressRefused, type EgressResponse, SafeHttp } from '../../../platform/egress/index.js';
import { PathRules } from '../domain/path-rules.js';
import { hostPauseMs } from '../domain/retry-delay.js';
import { readRobotsFile } from '../domain/robots-file.js';
import {
  CLOSED_CACHE_MS, MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS, PRODUCT_TOKEN, ROBOTS_CACHE_MS, ROBOTS_CACHED_ORIGINS,
  ROBOTS_READ_AHEAD_BYTES, ROBOTS_TIMEOUT_MS,
} from '../limits.js';
import type { HostLease } from './host-lease.js';

/** What a host's robots.txt says to this service (RFC 9309). */
export interface RobotsRules {
  allows(url: URL): boolean;
  /** `crawl-delay`, at most 30 s; 0 where there is none. */
  readonly crawlDelayMs: number;
  /** Absolute URLs, as they are written there. */
  readonly sitemaps: readonly string[];
  /** The server did not tell its rules (5xx, no answer), so nothing may be fetched: why, in public words. */
  readonly closed: string | null;
}

interface LoadedRules {
  readonly rules: RobotsRules;
  /** By the monotonic clock. */
  readonly at: number;
  /** When it was asked for. */
  readonly askedAt: Date;
  /** Where the site is closed: until it is asked again. */
  readonly closedMs: number;
}

/** Reads robots.txt files. What is known of an origin is kept in this process. */
@Injectable()
export class HttpRobots implements OnApplicationShutdown {
  private readonly cache: TtlCache<LoadedRules>;
  /** What was asked for again: who finds one of them late must not end the load that replaced it. */
  private readonly replaced = new WeakSet<LoadedRules>();
  private readonly stopped = new AbortController();

  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {
    this.cache = new TtlCache({ clock, ttlMs: ROBOTS_CACHE_MS, maxEntries: ROBOTS_CACHED_ORIGINS });
  }

  /**
   * @param host of the origin; it is asked at most once, on the caller's connection
   * @param origin `https://example.com`
   * @param since none older than this is answered; without it one that is some minutes old may be
   * @throws the reason of `signal` when it aborts
   */
  async rulesOf(host: HostLease, origin: string, signal: AbortSignal, since: Date | null = null): Promise<RobotsRules> {
    const known = await this.load(host, origin, signal);
    const isStale = known.rules.closed !== null && this.clock.monotonic() - known.at >= known.closedMs;
    if (!isStale && (since === null || known.askedAt >= since)) return known.rules;
    if (!this.replaced.has(known)) this.cache.delete(origin);
    this.replaced.add(known);
    return (await this.load(host, origin, signal)).rules;
  }

  onApplicationShutdown(): void {
    this.stopped.abort(new Error('The process stops'));
  }

  /** Who gives up leaves the others their load. */
  private async load(host: HostLease, origin: string, signal: AbortSignal): Promise<LoadedRules> {
    const loaded = await untilAborted(this.cache.get(origin, () => this.fetch(host, origin)), signal);
    if (!loaded) throw new Error('The rules of an origin are never absent');
    return loaded;
  }

  private async fetch(host: HostLease, origin: string): Promise<LoadedRules> {
    const url = new URL('/robots.txt', origin);
    const askedAt = this.clock.now();
    const rules = await this.request(host, url);
    // Who has asked for a pause is asked again after it: the pages that wait for its end are not to fail by what was said before.
    const pauseMs = host.pauseMs || CLOSED_CACHE_MS;
    return { rules, at: this.clock.monotonic(), askedAt, closedMs: Math.min(pauseMs, CLOSED_CACHE_MS) };
  }

  private async request(host: HostLease, url: URL): Promise<RobotsRules> {
    try {
      return await this.read(host, url);
    } catch (error) {
      this.stopped.signal.throwIfAborted();
      // Not to find the file after so many steps is not to have one (RFC 9309, 2.3.1.2).
      if (error instanceof EgressFailed && error.reason === 'redirect') return open();
      if (error instanceof EgressFailed || error instanceof EgressRefused) return closed(reasonOf(error));
      throw error;
    }
  }

  private async read(host: HostLease, url: URL): Promise<RobotsRules> {
    const answer = await this.http.request(url, {
      purpose: 'crawl', maxBytes: MAX_ROBOTS_BYTES + ROBOTS_READ_AHEAD_BYTES, timeoutMs: ROBOTS_TIMEOUT_MS, redirects: { max: MAX_ROBOTS_REDIRECTS },
      signal: this.stopped.signal, headers: { accept: 'text/plain, */*;q=0.5' },
    });
    const { status } = answer;
    if (status >= 200 && status < 300) return rulesIn(await beginningOf(answer));
    answer.body.discard();
    host.holdBack(hostPauseMs(answer, this.clock.now()));
    return status >= 500 || status === 429 ? closed(`robots.txt was answered with ${status}.`) : open();
  }
}

/** Without a last line that is cut off: half of `Disallow: /private` forbids everything. */
async function beginningOf({ body }: EgressResponse): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ROBOTS_BYTES) break;
  }
  const content = Buffer.concat(chunks);
  if (bytes <= MAX_ROBOTS_BYTES) return content;
  const beginning = content.subarray(0, MAX_ROBOTS_BYTES);
  return beginning.subarray(0, Math.max(beginning.lastIndexOf('\n'), beginning.lastIndexOf('\r'), 0));
}

function rulesIn(content: Buffer): RobotsRules {
  const { rules, crawlDelayMs, sitemaps } = readRobotsFile(content, PRODUCT_TOKEN);
  const paths = new PathRules(rules);
  return { allows: (url) => paths.allows(url), crawlDelayMs, sitemaps, closed: null };
}

function open(): RobotsRules {
  return { allows: () => true, crawlDelayMs: 0, sitemaps: [], closed: null };
}

function closed(reason: string): RobotsRules {
  return { allows: () => false, crawlDelayMs: 0, sitemaps: [], closed: reason };
}

function reasonOf(error: EgressFailed | EgressRefused): string {
  if (error instanceof EgressRefused) return 'robots.txt is not at a public address that can be reached.';
  return error.reason === 'timeout' ? 'robots.txt was not answered in time.' : 'robots.txt could not be read.';
}
