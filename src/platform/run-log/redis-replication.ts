import { setImmediate, setTimeout } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';
import type { Clock } from '../clock/index.js';
import { TransientMap } from '../heap/index.js';
import { reconnect, type RedisClient } from '../redis/index.js';
import type { Logger } from '../telemetry/index.js';
import type { LogListener } from './memory-run-log.js';
import type { Written } from './redis-scripts.js';
import type { RunLogEntry } from './run-log.js';
import {
  BACKLOG_SIZE,
  BATCH_ENTRIES,
  BATCH_GAP_MS,
  BATCH_SIZE,
  ENDED_LOG_MS,
  FLUSH_MS,
  MAX_RETRY_MS,
  REFRESH_MS,
  RETRY_MS,
  RUNNING_LOG_MS,
} from './limits.js';

/** The copy of one run's log in Redis, and the entries that it lacks. */
interface Replica {
  readonly key: string;
  mode: 'open' | 'end' | 'lost';
  confirmed: number;
  last: number;
  pending: RunLogEntry[];
  /** Characters of the pending entries. */
  size: number;
  /** When Redis would remove it; infinite while the run is active. */
  expiresAt: number;
}

interface Part {
  readonly replica: Replica;
  readonly mode: Replica['mode'];
  readonly entries: readonly RunLogEntry[];
}

/**
 * Copies the logs of this process's runs to Redis in the background. One batch is sent at a time, and the entries that are
 * written meanwhile are in the next.
 */
export class RedisReplication {
  private readonly open = new TransientMap<Replica>();
  private readonly dirty = new TransientMap<Replica>();
  private size = 0;
  private sending: Promise<void> | undefined;
  private failures = 0;
  private isClosing = false;
  private pausing = new AbortController();
  private readonly stopRefresh: () => void;

  constructor(
    private readonly redis: RedisClient,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.stopRefresh = clock.every(REFRESH_MS, () => {
      for (const replica of this.open.values()) this.send(replica);
    });
    redis.on('ready', () => this.pausing.abort());
  }

  /** The listener neither blocks nor throws. */
  start(key: string): LogListener {
    const replica: Replica = { key, mode: 'open', confirmed: 0, last: 0, pending: [], size: 0, expiresAt: Infinity };
    this.open.set(replica.key, replica);
    return { appended: (entry) => this.append(replica, entry), ended: () => this.finish(replica, 'end') };
  }

  /** Sends the remaining entries for at most `FLUSH_MS`, while Redis accepts them. */
  async close(): Promise<void> {
    this.stopRefresh();
    this.isClosing = true;
    this.pausing.abort();
    const cancel = this.clock.after(FLUSH_MS, () => this.redis.disconnect());
    await (this.sending ??= this.sendAll());
    cancel();
    this.redis.disconnect();
  }

  private append(replica: Replica, entry: RunLogEntry): void {
    replica.last = entry.number;
    if (replica.mode !== 'open') return;
    replica.pending.push(entry);
    this.grow(replica, entry.data.length);
    this.send(replica);
    while (this.size > BACKLOG_SIZE) this.giveUpLargest();
  }

  private finish(replica: Replica, mode: 'end' | 'lost'): void {
    if (replica.mode !== 'open') return;
    replica.mode = mode;
    replica.expiresAt = this.clock.monotonic() + ENDED_LOG_MS;
    this.open.delete(replica.key);
    this.send(replica);
  }

  private send(replica: Replica): void {
    this.dirty.set(replica.key, replica);
    this.sending ??= this.sendAll();
  }

  private async sendAll(): Promise<void> {
    do {
      // One batch has all entries of this turn of the event loop.
      await setImmediate();
      if (await this.sendBatch()) {
        this.failures = 0;
        // A command costs more than an event, so one batch has the entries that all runs write within a moment.
        if (this.size < BATCH_SIZE) await this.pause(BATCH_GAP_MS);
      } else {
        if (this.isClosing) break;
        this.failures += 1;
        this.dropExpired();
        await this.pause(Math.min(RETRY_MS * 2 ** Math.min(this.failures, 10), MAX_RETRY_MS));
      }
    } while (this.dirty.size > 0);
    // In the same step as the last check of `dirty`: an entry in between would wait for the next one.
    this.sending = undefined;
  }

  /** In real time, because it spares the network. Ends early when the connection is back or the process stops. */
  private async pause(ms: number): Promise<void> {
    if (this.isClosing) return;
    this.pausing = new AbortController();
    await setTimeout(ms, undefined, { signal: this.pausing.signal }).catch(() => undefined);
  }

  private async sendBatch(): Promise<boolean> {
    if (this.redis.status !== 'ready') return false;
    const parts = this.dirty.values().map(partOf);
    const results = await Promise.allSettled(this.write(parts));
    let failure: unknown;
    for (const [index, part] of parts.entries()) {
      const result = results[index];
      if (result?.status === 'fulfilled') this.confirm(part, result.value);
      else failure = result?.reason;
    }
    if (failure) this.handle(failure);
    return failure === undefined;
  }

  /**
   * Sends all commands in one write. A pipeline of the client would do so too, but it defines an accessor on itself, which V8 keeps,
   * with the commands, until it collects the whole heap.
   */
  private write(parts: readonly Part[]): Promise<Written>[] {
    // In a cluster each log is on one of several connections.
    if (this.redis instanceof Redis) {
      const { stream } = this.redis;
      stream.cork();
      process.nextTick(() => {
        stream.uncork();
      });
    }
    return parts.map(({ replica, mode, entries }) => {
      const expiry = mode === 'open' ? RUNNING_LOG_MS : ENDED_LOG_MS;
      const fields = entries.flatMap(({ tag, data }) => [tag, data]);
      return this.redis.appendToRunLog(replica.key, mode, expiry, replica.confirmed, replica.last, ...fields);
    });
  }

  private confirm({ replica, mode, entries }: Part, written: Written): void {
    if (written !== 'ok') {
      if (written === 'lost' && mode !== 'lost') {
        this.logger.warn({ key: replica.key }, 'Redis has lost events of a run; other processes cannot follow it');
      }
      this.finish(replica, 'lost');
      this.drop(replica);
      return;
    }
    replica.confirmed += entries.length;
    // If it was given up meanwhile, nothing is pending, and the mark is still to be sent.
    if (replica.mode !== 'lost') {
      replica.pending.splice(0, entries.length);
      for (const { data } of entries) this.grow(replica, -data.length);
    }
    if (replica.pending.length === 0 && replica.mode === mode) this.dirty.delete(replica.key);
  }

  private handle(failure: unknown): void {
    if (failure instanceof ReplyError) {
      if (this.failures === 0) this.logger.warn({ err: failure }, 'Redis refuses the events of runs');
    } else {
      // A timeout. The socket may still hold the commands; a new one prevents that they accumulate.
      reconnect(this.redis, failure);
    }
  }

  /** Redis is too slow or unreachable: the memory of this process is worth more than the copy. */
  private giveUpLargest(): void {
    const largest = this.dirty.values().reduce((one, other) => (other.size > one.size ? other : one));
    this.clear(largest);
    this.finish(largest, 'lost');
    largest.mode = 'lost';
    this.logger.warn({ key: largest.key }, 'Too many events wait for Redis; other processes cannot follow this run');
  }

  /** Drops replicas that Redis would have removed by now. */
  private dropExpired(): void {
    const now = this.clock.monotonic();
    for (const replica of this.dirty.values()) if (replica.expiresAt <= now) this.drop(replica);
  }

  private drop(replica: Replica): void {
    this.clear(replica);
    this.dirty.delete(replica.key);
  }

  private clear(replica: Replica): void {
    this.grow(replica, -replica.size);
    replica.pending = [];
  }

  private grow(replica: Replica, by: number): void {
    replica.size += by;
    this.size += by;
  }
}

/** The end is in the part with the last entries. */
function partOf(replica: Replica): Part {
  const { pending, mode } = replica;
  let count = 0;
  for (let room = BATCH_SIZE; count < Math.min(pending.length, BATCH_ENTRIES); count += 1) {
    room -= pending[count]?.data.length ?? 0;
    if (count > 0 && room < 0) break;
  }
  return { replica, entries: pending.slice(0, count), mode: mode === 'end' && count < pending.length ? 'open' : mode };
}
