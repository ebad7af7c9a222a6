import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Redis, ReplyError } from 'ioredis';
import type { Clock } from '../clock/index.js';
import type { Logger } from '../telemetry/index.js';
import type { LogListener } from './memory-log.js';
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

/** The copy of one run's log in Redis, and what it lacks. */
interface Replica {
  readonly key: string;
  mode: 'open' | 'end' | 'lost';
  /** The last number that Redis has confirmed. */
  confirmed: number;
  /** The last number given. */
  last: number;
  pending: RunLogEntry[];
  /** Of what is pending, in characters. */
  size: number;
  /** When Redis would have let it expire; infinite while the run runs. */
  expiresAt: number;
}

/** What is sent of one replica at once. */
interface Part {
  readonly replica: Replica;
  readonly mode: Replica['mode'];
  readonly entries: readonly RunLogEntry[];
}

/**
 * Copies the logs of this process's runs to Redis, in the background: one batch is under way at a time,
 * and what is written meanwhile goes into the next.
 */
export class RedisReplication {
  private readonly open = new Set<Replica>();
  /** Those with something to send. */
  private readonly dirty = new Set<Replica>();
  private size = 0;
  private sending: Promise<void> | undefined;
  private failures = 0;
  private readonly closing = new AbortController();
  private pausing = new AbortController();
  private readonly stopRefresh: () => void;

  constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.stopRefresh = clock.every(REFRESH_MS, () => {
      for (const replica of this.open) this.touch(replica);
    });
    redis.on('ready', () => this.pausing.abort());
  }

  /** The listener must neither block nor throw. */
  start(key: string): LogListener {
    const replica: Replica = { key, mode: 'open', confirmed: 0, last: 0, pending: [], size: 0, expiresAt: Infinity };
    this.open.add(replica);
    return { appended: (entry) => this.append(replica, entry), ended: () => this.finish(replica, 'end') };
  }

  /** Sends what is left for `FLUSH_MS` at most, as long as Redis takes it. */
  async close(): Promise<void> {
    this.stopRefresh();
    this.closing.abort();
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
    this.touch(replica);
    while (this.size > BACKLOG_SIZE) this.giveUpLargest();
  }

  private finish(replica: Replica, mode: 'end' | 'lost'): void {
    if (replica.mode !== 'open') return;
    replica.mode = mode;
    replica.expiresAt = this.clock.monotonic() + ENDED_LOG_MS;
    this.open.delete(replica);
    this.touch(replica);
  }

  private touch(replica: Replica): void {
    this.dirty.add(replica);
    this.sending ??= this.sendAll();
  }

  private async sendAll(): Promise<void> {
    do {
      // What is written within one turn of the event loop goes together.
      await setImmediate();
      if (await this.sendBatch()) {
        this.failures = 0;
        // A command costs more than an event: what many runs say within a moment goes together. The wall's time,
        // whatever the clock says: it is the network that is spared.
        const { signal } = this.closing;
        if (this.size < BATCH_SIZE) await setTimeout(BATCH_GAP_MS, undefined, { signal }).catch(() => undefined);
        continue;
      }
      this.failures += 1;
      this.forgetExpired();
      if (this.closing.signal.aborted) break;
      this.pausing = new AbortController();
      const pause = Math.min(RETRY_MS * 2 ** Math.min(this.failures, 10), MAX_RETRY_MS);
      await this.clock.sleep(pause, this.pausing.signal).catch(() => undefined);
    } while (this.dirty.size > 0);
    // In the same step as the last look, or what is written in between would wait for the next write.
    this.sending = undefined;
  }

  /** @returns whether Redis took the batch */
  private async sendBatch(): Promise<boolean> {
    if (this.redis.status !== 'ready') return false;
    const parts = [...this.dirty].map(partOf);
    const pipeline = this.redis.pipeline();
    for (const { replica, mode, entries } of parts) {
      const expiry = mode === 'open' ? RUNNING_LOG_MS : ENDED_LOG_MS;
      const fields = entries.flatMap(({ tag, data }) => [tag, data]);
      pipeline.appendToRunLog(replica.key, mode, expiry, replica.confirmed, replica.last, ...fields);
    }
    const results = (await pipeline.exec()) ?? [];
    let failure: Error | undefined;
    for (const [index, part] of parts.entries()) {
      const [error, written] = results[index] ?? [new Error('Redis gave no answer'), null];
      if (error) failure = error;
      else this.confirm(part, written as Written);
    }
    if (failure) this.explain(failure);
    return failure === undefined;
  }

  private confirm({ replica, mode, entries }: Part, written: Written): void {
    if (written !== 'ok') {
      if (written === 'lost' && mode !== 'lost') {
        this.logger.warn({ key: replica.key }, 'Redis has lost events of a run; other processes cannot follow it');
      }
      this.finish(replica, 'lost');
      this.clear(replica);
      this.dirty.delete(replica);
      return;
    }
    replica.confirmed += entries.length;
    // Given up meanwhile: nothing is pending, and the mark is still to be set.
    if (replica.mode !== 'lost') {
      replica.pending.splice(0, entries.length);
      for (const { data } of entries) this.grow(replica, -data.length);
    }
    if (replica.pending.length === 0 && replica.mode === mode) this.dirty.delete(replica);
  }

  private explain(failure: Error): void {
    if (failure instanceof ReplyError) {
      if (this.failures === 0) this.logger.warn({ err: failure }, 'Redis refuses the events of runs');
    } else if (this.redis.status === 'ready') {
      // No answer in time. What was written may still wait in the socket: on a new one it does not pile up.
      this.redis.disconnect(true);
    }
  }

  /** Redis is too slow or gone: its copy of the log is worth less than this process's memory. */
  private giveUpLargest(): void {
    const largest = [...this.dirty].reduce((one, other) => (other.size > one.size ? other : one));
    this.clear(largest);
    this.finish(largest, 'lost');
    largest.mode = 'lost';
    this.logger.warn({ key: largest.key }, 'Too much waits for Redis; other processes cannot follow this run');
  }

  /** What would have expired in Redis by now is not sent any more. */
  private forgetExpired(): void {
    const now = this.clock.monotonic();
    for (const replica of this.dirty) {
      if (replica.expiresAt > now) continue;
      this.clear(replica);
      this.dirty.delete(replica);
    }
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

/** The end goes with the last entries. */
function partOf(replica: Replica): Part {
  const { pending, mode } = replica;
  let count = 0;
  for (let room = BATCH_SIZE; count < Math.min(pending.length, BATCH_ENTRIES); count += 1) {
    room -= pending[count]?.data.length ?? 0;
    if (count > 0 && room < 0) break;
  }
  return { replica, entries: pending.slice(0, count), mode: mode === 'end' && count < pending.length ? 'open' : mode };
}
