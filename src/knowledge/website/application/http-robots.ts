import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../../../platform/cache/index.js';
import { Clock, untilAborted } from '../../../platform/clock/index.js';
import { EgressFailed, EgressRefused, type EgressResponse, SafeHttp } from '../../../platform/egress/index.js';
import type { HostLease } from '../domain/host-lease.js';
import { PathRules } from '../domain/path-rules.js';
import { hostPauseMs } from '../domain/retry-delay.js';
import { readRobotsFile, type RobotsFile } from '../domain/robots-file.js';
import {
  CLOSED_CACHE_MS,
  MAX_ROBOTS_BYTES,
  MAX_ROBOTS_REDIRECTS,
  PRODUCT_TOKEN,
  ROBOTS_CACHE_MS,
  ROBOTS_CACHED_ORIGINS,
  ROBOTS_READ_AHEAD_BYTES,
  ROBOTS_TIMEOUT_MS,
} from '../limits.js';

/** The rules of a host's robots.txt for this service (RFC 9309). */
export interface RobotsRules extends Pick<RobotsFile, 'crawlDelayMs' | 'sitemaps'> {
  allows(url: URL): boolean;
  /** Why nothing may be fetched, in public words: the server did not send its rules (5xx, no answer). Null where it did. */
  readonly closed: string | null;
}

interface CachedRules {
  readonly requestedAt: Date;
  readonly rules: Promise<RobotsRules>;
  /** By the monotonic clock. */
  expiresAt: number;
}

/** Reads robots.txt files, and caches them in this process. */
@Injectable()
export class HttpRobots implements OnApplicationShutdown {
  private readonly cache = new LRUCache<string, CachedRules>(entryLimit(ROBOTS_CACHED_ORIGINS));
  private readonly stopped = new AbortController();

  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /**
   * @param host of the origin; the caller holds one of its connections
   * @param origin `https://example.com`
   * @param since the file must have been requested after this; without it, it may be some minutes old
   * @throws the reason of `signal` when it aborts
   */
  async rulesOf(host: HostLease, origin: string, signal: AbortSignal, since: Date | null = null): Promise<RobotsRules> {
    const known = this.cache.get(origin);
    const isFresh = known && known.expiresAt > this.clock.monotonic() && (since === null || known.requestedAt >= since);
    // A caller that aborts does not abort the shared load.
    return untilAborted((isFresh ? known : this.load(host, origin)).rules, signal);
  }

  onApplicationShutdown(): void {
    this.stopped.abort(new Error('The process stops'));
  }

  private load(host: HostLease, origin: string): CachedRules {
    const known: CachedRules = {
      requestedAt: this.clock.now(),
      expiresAt: this.clock.monotonic() + ROBOTS_CACHE_MS,
      rules: this.request(host, new URL('/robots.txt', origin)),
    };
    this.cache.set(origin, known);
    known.rules.then(
      ({ closed }) => {
        // The pages that wait for the end of the server's pause must not fail by rules that were read before it.
        if (closed !== null)
          known.expiresAt = this.clock.monotonic() + Math.min(host.pauseMs || CLOSED_CACHE_MS, CLOSED_CACHE_MS);
      },
      () => {
        if (this.cache.peek(origin) === known) this.cache.delete(origin);
      },
    );
    return known;
  }

  private async request(host: HostLease, url: URL): Promise<RobotsRules> {
    try {
      return await this.read(host, url);
    } catch (error) {
      this.stopped.signal.throwIfAborted();
      // More redirects than this count as "no robots.txt" (RFC 9309, 2.3.1.2).
      if (error instanceof EgressFailed && error.reason === 'redirect') return open();
      if (error instanceof EgressFailed || error instanceof EgressRefused) return closed(reasonOf(error));
      throw error;
    }
  }

  private async read(host: HostLease, url: URL): Promise<RobotsRules> {
    const response = await this.http.request(url, {
      purpose: 'crawl',
      maxBytes: MAX_ROBOTS_BYTES + ROBOTS_READ_AHEAD_BYTES,
      timeoutMs: ROBOTS_TIMEOUT_MS,
      redirects: { max: MAX_ROBOTS_REDIRECTS },
      signal: this.stopped.signal,
      headers: { accept: 'text/plain, */*;q=0.5' },
    });
    const { status } = response;
    if (status >= 200 && status < 300) return rulesIn(await beginningOf(response));
    response.body.discard();
    host.pauseFor(hostPauseMs(response, this.clock.now()));
    return status >= 500 || status === 429 ? closed(`robots.txt was answered with ${status}.`) : open();
  }
}

/** Drops a last line that is cut off: half of `Disallow: /private` may forbid everything. */
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
  return error.reason === 'timeout' ? 'The server did not send robots.txt in time.' : 'robots.txt could not be read.';
}
