import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock, untilAborted } from '../../../platform/clock/index.js';
import { EgressFailed, EgressRefused, type EgressResponse, SafeHttp } from '../../../platform/egress/index.js';
import type { HostLease } from '../domain/host-lease.js';
import { PathRules } from '../domain/path-rules.js';
import { hostPauseMs } from '../domain/retry-delay.js';
import { readRobotsFile } from '../domain/robots-file.js';
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

/** What is known of an origin, or is being asked. */
interface KnownRules {
  readonly askedAt: Date;
  readonly rules: Promise<RobotsRules>;
  /** When it is asked again, by the monotonic clock. */
  until: number;
}

/** Reads robots.txt files. What is known of an origin is kept in this process. */
@Injectable()
export class HttpRobots implements OnApplicationShutdown {
  private readonly known = new LRUCache<string, KnownRules>({ max: ROBOTS_CACHED_ORIGINS });
  private readonly stopped = new AbortController();

  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /**
   * @param host of the origin; it is asked at most once, on the caller's connection
   * @param origin `https://example.com`
   * @param since none older than this is answered; without it one that is some minutes old may be
   * @throws the reason of `signal` when it aborts
   */
  async rulesOf(host: HostLease, origin: string, signal: AbortSignal, since: Date | null = null): Promise<RobotsRules> {
    const known = this.known.get(origin);
    const isFresh = known && known.until > this.clock.monotonic() && (since === null || known.askedAt >= since);
    // The others' load goes on where this caller gives up.
    return untilAborted((isFresh ? known : this.load(host, origin)).rules, signal);
  }

  onApplicationShutdown(): void {
    this.stopped.abort(new Error('The process stops'));
  }

  private load(host: HostLease, origin: string): KnownRules {
    const known: KnownRules = {
      askedAt: this.clock.now(),
      until: this.clock.monotonic() + ROBOTS_CACHE_MS,
      rules: this.request(host, new URL('/robots.txt', origin)),
    };
    this.known.set(origin, known);
    known.rules.then(
      ({ closed }) => {
        // A server that has asked for a pause is asked again after it: the pages that wait for its end are not to fail by what was said before.
        if (closed !== null)
          known.until = this.clock.monotonic() + Math.min(host.pauseMs || CLOSED_CACHE_MS, CLOSED_CACHE_MS);
      },
      () => {
        if (this.known.peek(origin) === known) this.known.delete(origin);
      },
    );
    return known;
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
      purpose: 'crawl',
      maxBytes: MAX_ROBOTS_BYTES + ROBOTS_READ_AHEAD_BYTES,
      timeoutMs: ROBOTS_TIMEOUT_MS,
      redirects: { max: MAX_ROBOTS_REDIRECTS },
      signal: this.stopped.signal,
      headers: { accept: 'text/plain, */*;q=0.5' },
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
