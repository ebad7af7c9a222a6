import type { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';
import { MemoryLog } from './memory-log.js';
import { ENDED_MARK, logKey, LOST_MARK } from './redis-scripts.js';
import { type RunLogEntry, RunLogUnavailable } from './run-log.js';
import { APPEAR_MS, LOOK_MS, PAGE_ENTRIES } from './limits.js';

/**
 * Follows runs of other processes: all of them over one connection for notifications and one for
 * fetching. However many read a run, it is fetched once.
 */
export class RemoteLogs {
  private readonly followed = new Map<string, RemoteLog>();
  private readonly stopLooking: () => void;

  /** @param subscriber a connection for this class alone, which does not resubscribe by itself */
  constructor(
    private readonly redis: Redis,
    private readonly subscriber: Redis,
    private readonly prefix: string,
    clock: Clock,
  ) {
    subscriber.on('message', (key: string) => this.followed.get(key)?.tell());
    subscriber.on('close', () => this.failAll('The connection to Redis was lost'));
    this.stopLooking = clock.every(LOOK_MS, () => {
      for (const remote of this.followed.values()) remote.tell();
    });
  }

  async read(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    const remote = this.join(logKey(this.prefix, runId));
    const reader = Symbol('reader');
    const leave = (): void => {
      signal.removeEventListener('abort', leave);
      remote.readers.delete(reader);
      if (remote.readers.size === 0) remote.stop();
    };
    remote.readers.add(reader);
    signal.addEventListener('abort', leave, { once: true });
    let found = false;
    try {
      found = await remote.found;
    } finally {
      if (!found || signal.aborted) leave();
    }
    return found ? readAndLeave(remote.log.read(after, signal), leave) : null;
  }

  close(): void {
    this.stopLooking();
    this.failAll('The process stops');
    this.subscriber.disconnect();
  }

  private join(key: string): RemoteLog {
    const known = this.followed.get(key);
    if (known) return known;
    const remote = new RemoteLog(key, this.redis, this.subscriber, () => {
      if (this.followed.get(key) === remote) this.followed.delete(key);
    });
    this.followed.set(key, remote);
    return remote;
  }

  private failAll(reason: string): void {
    for (const remote of this.followed.values()) remote.stop(new RunLogUnavailable(reason));
  }
}

/** One run of another process, copied here for as long as somebody here reads it. */
class RemoteLog {
  readonly log = new MemoryLog();
  readonly readers = new Set<symbol>();
  /** Whether there is such a log. Rejects as `RunLog.read` does. */
  readonly found: Promise<boolean>;
  private readonly opening = Promise.withResolvers<boolean>();
  private news = Promise.withResolvers<undefined>();
  private timesTold = 0;
  private stopped = false;

  constructor(
    private readonly key: string,
    private readonly redis: Redis,
    private readonly subscriber: Redis,
    private readonly onStop: () => void,
  ) {
    this.found = this.opening.promise;
    this.follow().catch((error: unknown) => {
      this.stop(error instanceof RunLogUnavailable ? error : new RunLogUnavailable('Redis did not answer', error));
    });
  }

  /** There may be more of it. */
  tell(): void {
    this.timesTold += 1;
    this.news.resolve(undefined);
  }

  /** From here on nothing is added; who reads the log still has what it holds, and then `failure`. */
  stop(failure?: RunLogUnavailable): void {
    if (this.stopped) return;
    this.stopped = true;
    this.onStop();
    if (failure) {
      this.log.fail(failure);
      this.opening.reject(failure);
    }
    this.opening.resolve(false);
    this.tell();
    // Failing means that the connection is gone, and every subscription with it.
    this.subscriber.unsubscribe(this.key).catch(() => undefined);
  }

  private async follow(): Promise<void> {
    await this.subscribe();
    let isLate = false;
    while (!this.stopped) {
      const { timesTold } = this;
      this.news = Promise.withResolvers();
      const page = await this.fetch();
      if (page === 'none') {
        if (this.log.length > 0) throw new RunLogUnavailable('Redis no longer has the log of the run');
        // Unless it has appeared while it was looked for: that news comes once.
        if (this.timesTold > timesTold) continue;
        if (isLate) this.stop();
        else await this.appears();
        isLate = true;
      } else {
        this.opening.resolve(true);
        if (this.log.ended) this.stop();
        else if (page === 'all') await this.news.promise;
      }
    }
  }

  /** Before the first fetch, so that every entry is either in the fetch or announced. */
  private async subscribe(): Promise<void> {
    try {
      // The client would let this one through before the connection is ready, and then never get it ready.
      if (this.subscriber.status !== 'ready') throw new Error('There is no connection to Redis');
      await this.subscriber.subscribe(this.key);
    } catch (error) {
      throw new RunLogUnavailable('Redis could not be asked for news', error);
    }
  }

  /** A run that was stored a moment ago is asked for before its first event has come here. */
  private async appears(): Promise<void> {
    // The wall's time, whatever the clock says: it is the network that is waited for.
    const timer = setTimeout(() => this.news.resolve(undefined), APPEAR_MS);
    await this.news.promise;
    clearTimeout(timer);
  }

  /** Takes over what is new: `all` of it, or `some` of it; `none` when the log is not there or does not go on from here. */
  private async fetch(): Promise<'all' | 'some' | 'none'> {
    // The id that follows the last entry's.
    const from = this.log.length === 0 ? '-' : `${this.log.length}-1`;
    const page = await this.redis.xrange(this.key, from, '+', 'COUNT', PAGE_ENTRIES);
    const isThere = page.length > 0 || (await this.redis.exists(this.key)) === 1;
    if (!isThere || !page.every(([id, fields]) => this.take(id, fields))) return 'none';
    return page.length === PAGE_ENTRIES ? 'some' : 'all';
  }

  /** @returns false when the log does not go on from what is known */
  private take(id: string, [tag = '', data = '']: readonly string[]): boolean {
    const [number, mark] = id.split('-');
    if (mark === LOST_MARK) return false;
    if (mark === ENDED_MARK) {
      if (Number(number) !== this.log.length) return false;
      this.log.end();
    } else {
      if (Number(number) !== this.log.length + 1) return false;
      this.log.append(tag, data);
    }
    return true;
  }
}

async function* readAndLeave(
  batches: AsyncIterable<readonly RunLogEntry[]>,
  leave: () => void,
): AsyncGenerator<readonly RunLogEntry[]> {
  try {
    yield* batches;
  } finally {
    leave();
  }
}
