import type { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';
import { MemoryLog } from './memory-log.js';
import { ENDED_MARK, logKey, LOST_MARK } from './redis-scripts.js';
import { RunLogUnavailable } from './run-log.errors.js';
import type { RunLogEntry } from './run-log.js';
import { APPEAR_MS, LOOK_MS, PAGE_ENTRIES } from './limits.js';

type StreamEntry = readonly [id: string, fields: readonly string[]];

/** One run of another process, copied here for as long as somebody here reads it. */
interface RemoteRunLog {
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
  private readonly remoteLogs = new Map<string, RemoteRunLog>();
  private readonly stopLooking: () => void;

  /** @param subscriber a connection that nobody else uses, and that does not subscribe again by itself */
  constructor(
    private readonly redis: Redis,
    private readonly subscriber: Redis,
    private readonly prefix: string,
    clock: Clock,
  ) {
    subscriber.on('message', (key: string) => {
      const remoteLog = this.remoteLogs.get(key);
      remoteLog?.onNews?.();
      if (remoteLog) void this.pull(remoteLog);
    });
    subscriber.on('close', () => this.failAll('The connection to Redis was lost'));
    this.stopLooking = clock.every(LOOK_MS, () => {
      for (const remoteLog of this.remoteLogs.values()) void this.pull(remoteLog);
    });
  }

  async read(
    runId: string,
    after: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    const remoteLog = this.join(logKey(this.prefix, runId));
    remoteLog.readers += 1;
    const leave = this.leaver(remoteLog, signal);
    signal.addEventListener('abort', leave, { once: true });
    let found = false;
    try {
      found = await remoteLog.found;
    } finally {
      if (!found || signal.aborted) leave();
    }
    return found ? readAndLeave(remoteLog.log.read(after, signal), leave) : null;
  }

  close(): void {
    this.stopLooking();
    this.failAll('The process stops');
    this.subscriber.disconnect();
  }

  private join(key: string): RemoteRunLog {
    const known = this.remoteLogs.get(key);
    if (known) return known;
    const opening = Promise.withResolvers<boolean>();
    const remoteLog: RemoteRunLog = {
      key,
      log: new MemoryLog(),
      readers: 0,
      found: opening.promise,
      pulling: true,
      pullAgain: false,
      onNews: undefined,
    };
    this.remoteLogs.set(key, remoteLog);
    this.open(remoteLog).then(opening.resolve, opening.reject);
    return remoteLog;
  }

  private async open(remoteLog: RemoteRunLog): Promise<boolean> {
    try {
      // The client would let this one through before the connection is ready, and then never get it ready.
      if (this.subscriber.status !== 'ready') throw new Error('There is no connection to Redis');
      // Before the first fetch: whatever is not in that one is told of.
      await this.subscriber.subscribe(remoteLog.key);
    } catch (error) {
      this.drop(remoteLog);
      throw new RunLogUnavailable('Redis could not be asked for news', error);
    }
    const found = (await this.look(remoteLog)) || (await this.lookOnceMore(remoteLog));
    if (!found) this.drop(remoteLog);
    return found;
  }

  private async look(remoteLog: RemoteRunLog): Promise<boolean> {
    remoteLog.pulling = false;
    const state = await this.pull(remoteLog);
    remoteLog.pulling = state === 'gone';
    if (state instanceof Error) throw state;
    return state === 'there';
  }

  /** A run that was stored a moment ago is asked for before its first event has come here. */
  private async lookOnceMore(remoteLog: RemoteRunLog): Promise<boolean> {
    await new Promise<void>((resolve) => {
      // The wall's time, whatever the clock says: it is the network that is waited for.
      const timer = setTimeout(resolve, APPEAR_MS);
      remoteLog.onNews = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    remoteLog.onNews = undefined;
    return this.look(remoteLog);
  }

  private leaver(remoteLog: RemoteRunLog, signal: AbortSignal): () => void {
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      signal.removeEventListener('abort', leave);
      remoteLog.readers -= 1;
      if (remoteLog.readers === 0) this.drop(remoteLog);
    };
    return leave;
  }

  /**
   * Fetches what is new. Failing ends the readers.
   * @returns `gone` when nothing of the log is known, neither here nor in Redis
   */
  private async pull(remoteLog: RemoteRunLog): Promise<'there' | 'gone' | Error> {
    remoteLog.pullAgain = true;
    if (remoteLog.pulling) return 'there';
    remoteLog.pulling = true;
    try {
      while (remoteLog.pullAgain && this.remoteLogs.get(remoteLog.key) === remoteLog) {
        remoteLog.pullAgain = false;
        const page = await this.fetch(remoteLog);
        if (page?.every((entry) => this.take(remoteLog, entry))) {
          if (page.length === PAGE_ENTRIES) remoteLog.pullAgain = true;
          continue;
        }
        if (remoteLog.log.length > 0) throw new RunLogUnavailable('Redis no longer has the log of the run');
        // Unless it has appeared while it was looked for: that news comes once.
        if (!hasNews(remoteLog)) return 'gone';
      }
      return 'there';
    } catch (error) {
      const failure = error instanceof RunLogUnavailable ? error : new RunLogUnavailable('Redis did not answer', error);
      this.fail(remoteLog, failure);
      return failure;
    } finally {
      remoteLog.pulling = false;
    }
  }

  /** @returns null when there is no log */
  private async fetch({ key, log }: RemoteRunLog): Promise<StreamEntry[] | null> {
    // The id that follows the last entry's.
    const from = log.length === 0 ? '-' : `${log.length}-1`;
    const page = await this.redis.xrange(key, from, '+', 'COUNT', PAGE_ENTRIES);
    return page.length > 0 || (await this.redis.exists(key)) === 1 ? page : null;
  }

  /** @returns false when the log does not go on from what is known */
  private take(remoteLog: RemoteRunLog, [id, fields]: StreamEntry): boolean {
    const { log } = remoteLog;
    const [number, mark] = id.split('-');
    if (mark === LOST_MARK) return false;
    if (mark === ENDED_MARK) {
      if (Number(number) !== log.length) return false;
      log.end();
      this.drop(remoteLog);
      return true;
    }
    const [tag, data] = fields;
    if (Number(number) !== log.length + 1 || tag === undefined || data === undefined) return false;
    log.append(tag, data);
    return true;
  }

  private failAll(reason: string): void {
    for (const remoteLog of [...this.remoteLogs.values()]) this.fail(remoteLog, new RunLogUnavailable(reason));
  }

  private fail(remoteLog: RemoteRunLog, error: RunLogUnavailable): void {
    remoteLog.log.fail(error);
    this.drop(remoteLog);
  }

  /** From here on nothing is added to it; who reads it still has what it holds. */
  private drop(remoteLog: RemoteRunLog): void {
    if (this.remoteLogs.get(remoteLog.key) !== remoteLog) return;
    this.remoteLogs.delete(remoteLog.key);
    // Failing means that the connection is gone, and every subscription with it.
    this.subscriber.unsubscribe(remoteLog.key).catch(() => undefined);
  }
}

/** Set by others while a fetch is awaited. */
function hasNews({ pullAgain }: RemoteRunLog): boolean {
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
