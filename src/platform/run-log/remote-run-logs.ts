import type { Clock } from '../clock/index.js';
import { reconnect, type RedisClient, subscribe } from '../redis/index.js';
import { MemoryLog } from './memory-run-log.js';
import { ENDED_MARK, logKey, LOST_MARK } from './redis-scripts.js';
import { type RunLogEntry, RunLogUnavailable } from './run-log.js';
import { APPEAR_MS, LOOK_MS, PAGE_ENTRIES } from './limits.js';

/**
 * Follows runs of other processes, all of them over one connection for notifications and one for fetches. A run is fetched
 * once, for any number of readers.
 */
export class RemoteLogs {
  private readonly followed = new Map<string, RemoteLog>();
  private readonly stopLooking: () => void;

  /** @param subscriber a connection without automatic resubscription, which `close` closes */
  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisClient,
    private readonly prefix: string,
    clock: Clock,
  ) {
    subscriber.on('message', (key: string) => this.followed.get(key)?.fetchMore());
    subscriber.on('close', () => this.failAll('The connection to Redis was lost'));
    this.stopLooking = clock.every(LOOK_MS, () => {
      for (const remote of this.followed.values()) remote.check();
    });
  }

  async read(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    const remote = this.follow(logKey(this.prefix, runId));
    const leave = (): void => {
      signal.removeEventListener('abort', leave);
      remote.readers.delete(leave);
      if (remote.readers.size === 0) remote.stop();
    };
    remote.readers.add(leave);
    signal.addEventListener('abort', leave, { once: true });
    let isFound = false;
    try {
      isFound = await remote.isFound;
    } finally {
      if (!isFound || signal.aborted) leave();
    }
    return isFound ? readAndLeave(remote.log.read(after, signal), leave) : null;
  }

  close(): void {
    this.stopLooking();
    this.failAll('The process stops');
    this.subscriber.disconnect();
  }

  private follow(key: string): RemoteLog {
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

/** A local copy of the log of another process's run, which exists as long as it has readers. */
class RemoteLog {
  readonly log = new MemoryLog();
  /** The function of each reader that removes it. */
  readonly readers = new Set<() => void>();
  /** Whether Redis has the log. Rejects as `RunLog.read` does. */
  readonly isFound: Promise<boolean>;
  private readonly found = Promise.withResolvers<boolean>();
  private announcement = Promise.withResolvers<undefined>();
  private exists = false;
  private isStopped = false;

  constructor(
    private readonly key: string,
    private readonly redis: RedisClient,
    private readonly subscriber: RedisClient,
    private readonly onStop: () => void,
  ) {
    this.isFound = this.found.promise;
    this.follow().catch((error: unknown) => {
      this.stop(error instanceof RunLogUnavailable ? error : new RunLogUnavailable('Redis did not respond', error));
    });
  }

  fetchMore(): void {
    this.announcement.resolve(undefined);
  }

  /** Fetches without an announcement. This must not shorten the wait for a log that does not exist yet. */
  check(): void {
    if (this.exists) this.fetchMore();
  }

  /** Adds nothing from now on: readers still get the entries that are here, and then `failure`. */
  stop(failure?: RunLogUnavailable): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.onStop();
    if (failure) {
      this.log.fail(failure);
      this.found.reject(failure);
    }
    this.found.resolve(false);
    this.fetchMore();
    // This fails only if the connection is lost, and every subscription with it.
    this.subscriber.unsubscribe(this.key).catch(() => undefined);
  }

  private async follow(): Promise<void> {
    // Before the first fetch, so that every entry is either fetched or announced.
    await subscribe(this.subscriber, this.key);
    let isLate = false;
    while (!this.isStopped) {
      // Before the fetch: what is announced while it is under way may not be in it.
      this.announcement = Promise.withResolvers();
      const fetched = await this.fetch();
      if (fetched !== 'none') {
        this.exists = true;
        this.found.resolve(true);
        if (this.log.ended) this.stop();
        else if (fetched === 'all') await this.announcement.promise;
      } else if (this.log.entries.length > 0) {
        throw new RunLogUnavailable('Redis no longer has the log of the run');
      } else if (isLate) {
        this.stop();
      } else {
        // A caller may read a run that was just stored before its first entry is in Redis. Real time, because it depends on the network.
        const timer = setTimeout(() => this.fetchMore(), APPEAR_MS);
        await this.announcement.promise;
        clearTimeout(timer);
        isLate = true;
      }
    }
  }

  /** Copies new entries: `all` of them or `some`; `none` if the log is missing or does not continue this copy. */
  private async fetch(): Promise<'all' | 'some' | 'none'> {
    const { page, exists } = await this.page().catch((error: unknown) => {
      reconnect(this.redis, error);
      throw error;
    });
    if (!exists || !page.every(([id, fields]) => this.add(id, fields))) return 'none';
    return page.length === PAGE_ENTRIES ? 'some' : 'all';
  }

  private async page(): Promise<{ page: [id: string, fields: string[]][]; exists: boolean }> {
    const from = this.log.entries.length === 0 ? '-' : `${this.log.entries.length}-1`;
    const page = await this.redis.xrange(this.key, from, '+', 'COUNT', PAGE_ENTRIES);
    return { page, exists: page.length > 0 || (await this.redis.exists(this.key)) === 1 };
  }

  /** @returns false if the entry does not continue this copy */
  private add(id: string, [tag = '', data = '']: readonly string[]): boolean {
    const [number, mark] = id.split('-');
    const isEnd = mark === ENDED_MARK;
    if (mark === LOST_MARK || Number(number) !== this.log.entries.length + (isEnd ? 0 : 1)) return false;
    if (isEnd) this.log.end();
    else this.log.append(tag, data);
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
