import type { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';
import { MemoryLog } from './memory-log.js';
import { ENDED_MARK, logKey, LOST_MARK } from './redis-scripts.js';
import { RunLogUnavailable } from './run-log.errors.js';
import type { RunLogEntry } from './run-log.js';
import { APPEAR_MS, LOOK_MS, PAGE_ENTRIES } from './tunables.js';

type StreamEntry = readonly [id: string, fields: readonly string[]];

/** One run of another process, copied here for as long as somebody here reads it. */
interface Mirror {
  readonly key: string;
  readonly log: MemoryLog;
  readers: number;
  /** Whether the log was there when it was first looked for. */
  readonly found: Promise<boolean>;
  /** Also while it is opened: only the one who opens it is to find that there is nothing. */
  pulling: boolean;
  pullAgain: boolean;
  /** Called on news while the log is expected to appear. */
  onNews: (() => void) | undefined;
}

/**
 * Follows runs of other processes: all of them over one connection for notifications and one for
 * fetching. However many read a run, it is fetched once.
 */
export class RemoteLogs {
  private readonly mirrors = new Map<string, Mirror>();
  private readonly stopLooking: () => void;

  /** @param subscriber a connection that nobody else uses, and that does not subscribe again by itself */
  constructor(
    private readonly redis: Redis,
    private readonly subscriber: Redis,
    private readonly prefix: string,
    clock: Clock,
  ) {
    subscriber.on('message', (key: string) => {
      const mirror = this.mirrors.get(key);
      mirror?.onNews?.();
      if (mirror) void this.pull(mirror);
    });
    subscriber.on('close', () => this.failAll('The connection to Redis was lost'));
    this.stopLooking = clock.every(LOOK_MS, () => {
      for (const mirror of this.mirrors.values()) void this.pull(mirror);
    });
  }

  async read(
    runId: string,
    after: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    const mirror = this.join(logKey(this.prefix, runId));
    mirror.readers += 1;
    const leave = this.leaver(mirror, signal);
    signal.addEventListener('abort', leave, { once: true });
    let found = false;
    try {
      found = await mirror.found;
    } finally {
      if (!found || signal.aborted) leave();
    }
    return found ? readAndLeave(mirror.log.read(after, signal), leave) : null;
  }

  close(): void {
    this.stopLooking();
    this.failAll('The process stops');
    this.subscriber.disconnect();
  }

  private join(key: string): Mirror {
    const known = this.mirrors.get(key);
    if (known) return known;
    const opening = Promise.withResolvers<boolean>();
    const mirror: Mirror = {
      key,
      log: new MemoryLog(),
      readers: 0,
      found: opening.promise,
      pulling: true,
      pullAgain: false,
      onNews: undefined,
    };
    this.mirrors.set(key, mirror);
    this.open(mirror).then(opening.resolve, opening.reject);
    return mirror;
  }

  private async open(mirror: Mirror): Promise<boolean> {
    try {
      // The client would let this one through before the connection is ready, and then never get it ready.
      if (this.subscriber.status !== 'ready') throw new Error('There is no connection to Redis');
      // Before the first fetch: whatever is not in that one is told of.
      await this.subscriber.subscribe(mirror.key);
    } catch (error) {
      this.drop(mirror);
      throw new RunLogUnavailable('Redis could not be asked for news', error);
    }
    const found = (await this.look(mirror)) || (await this.lookOnceMore(mirror));
    if (!found) this.drop(mirror);
    return found;
  }

  private async look(mirror: Mirror): Promise<boolean> {
    mirror.pulling = false;
    const state = await this.pull(mirror);
    mirror.pulling = state === 'gone';
    if (state instanceof Error) throw state;
    return state === 'there';
  }

  /** A run that was stored a moment ago is asked for before its first event has come here. */
  private async lookOnceMore(mirror: Mirror): Promise<boolean> {
    await new Promise<void>((resolve) => {
      // The wall's time, whatever the clock says: it is the network that is waited for.
      const timer = setTimeout(resolve, APPEAR_MS);
      mirror.onNews = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    mirror.onNews = undefined;
    return this.look(mirror);
  }

  private leaver(mirror: Mirror, signal: AbortSignal): () => void {
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      signal.removeEventListener('abort', leave);
      mirror.readers -= 1;
      if (mirror.readers === 0) this.drop(mirror);
    };
    return leave;
  }

  /**
   * Fetches what is new. Failing ends the readers.
   * @returns `gone` when nothing of the log is known, neither here nor in Redis
   */
  private async pull(mirror: Mirror): Promise<'there' | 'gone' | Error> {
    mirror.pullAgain = true;
    if (mirror.pulling) return 'there';
    mirror.pulling = true;
    try {
      while (mirror.pullAgain && this.mirrors.get(mirror.key) === mirror) {
        mirror.pullAgain = false;
        const page = await this.fetch(mirror);
        if (page?.every((entry) => this.take(mirror, entry))) {
          if (page.length === PAGE_ENTRIES) mirror.pullAgain = true;
          continue;
        }
        if (mirror.log.length > 0) throw new RunLogUnavailable('Redis no longer has the log of the run');
        // Unless it has appeared while it was looked for: that news comes once.
        if (!hasNews(mirror)) return 'gone';
      }
      return 'there';
    } catch (error) {
      const failure = error instanceof RunLogUnavailable ? error : new RunLogUnavailable('Redis did not answer', error);
      this.fail(mirror, failure);
      return failure;
    } finally {
      mirror.pulling = false;
    }
  }

  /** @returns null when there is no log */
  private async fetch({ key, log }: Mirror): Promise<StreamEntry[] | null> {
    // The id that follows the last entry's.
    const from = log.length === 0 ? '-' : `${log.length}-1`;
    const page = await this.redis.xrange(key, from, '+', 'COUNT', PAGE_ENTRIES);
    return page.length > 0 || (await this.redis.exists(key)) === 1 ? page : null;
  }

  /** @returns false when the log does not go on from what is known */
  private take(mirror: Mirror, [id, fields]: StreamEntry): boolean {
    const { log } = mirror;
    const [number, mark] = id.split('-');
    if (mark === LOST_MARK) return false;
    if (mark === ENDED_MARK) {
      if (Number(number) !== log.length) return false;
      log.end();
      this.drop(mirror);
      return true;
    }
    const [tag, data] = fields;
    if (Number(number) !== log.length + 1 || tag === undefined || data === undefined) return false;
    log.append(tag, data);
    return true;
  }

  private failAll(reason: string): void {
    for (const mirror of [...this.mirrors.values()]) this.fail(mirror, new RunLogUnavailable(reason));
  }

  private fail(mirror: Mirror, error: RunLogUnavailable): void {
    mirror.log.fail(error);
    this.drop(mirror);
  }

  /** From here on nothing is added to it; who reads it still has what it holds. */
  private drop(mirror: Mirror): void {
    if (this.mirrors.get(mirror.key) !== mirror) return;
    this.mirrors.delete(mirror.key);
    // Failing means that the connection is gone, and every subscription with it.
    this.subscriber.unsubscribe(mirror.key).catch(() => undefined);
  }
}

/** Set by others while a fetch is awaited. */
function hasNews({ pullAgain }: Mirror): boolean {
  return pullAgain;
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
