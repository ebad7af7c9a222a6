import { type Redis, ReplyError } from 'ioredis';
import type { Clock } from '../clock/index.js';
import type { Logger } from '../telemetry/index.js';
import { APPEND_SCRIPT, logKey, type Written } from './redis-scripts.js';
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

/** What Redis does not have yet of one run's log. */
interface Replica {
  readonly key: string;
  mode: 'open' | 'end' | 'lost';
  /** The last number that Redis has confirmed. */
  confirmed: number;
  /** The last number given. */
  last: number;
  pending: RunLogEntry[];
  size: number;
  /** When its expiry in Redis begins, or would. */
  overSince: number | undefined;
}

/** What is sent of one replica in one batch. */
interface Part {
  readonly replica: Replica;
  readonly mode: Replica['mode'];
  readonly entries: readonly RunLogEntry[];
}

/** Takes the entries of one run; none of it waits or throws. */
export interface ReplicaWriter {
  append(entry: RunLogEntry): void;
  end(): void;
}

/**
 * Copies the logs of this process's runs to Redis, in the background: one batch is under way at a time,
 * and what is written meanwhile goes into the next.
 */
export class RedisReplication {
  private readonly open = new Set<Replica>();
  /** Those with something to send, the longest waiting first. */
  private readonly dirty = new Set<Replica>();
  private size = 0;
  private sending: Promise<void> | undefined;
  private failures = 0;
  private closing = false;
  private wake: () => void = () => undefined;
  private stopBatching: () => void = () => undefined;
  private readonly stopRefresh: () => void;

  constructor(
    private readonly redis: Redis,
    private readonly prefix: string,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.stopRefresh = clock.every(REFRESH_MS, () => {
      for (const replica of this.open) this.touch(replica);
    });
    redis.on('ready', () => {
      void this.load();
      this.wake();
    });
  }

  start(runId: string): ReplicaWriter {
    const replica: Replica = {
      key: logKey(this.prefix, runId),
      mode: 'open',
      confirmed: 0,
      last: 0,
      pending: [],
      size: 0,
      overSince: undefined,
    };
    this.open.add(replica);
    return {
      append: (entry) => this.append(replica, entry),
      end: () => this.finish(replica, 'end'),
    };
  }

  /** Sends what is left for `FLUSH_MS` at most, as long as Redis takes it. */
  async close(): Promise<void> {
    this.closing = true;
    this.stopRefresh();
    this.wake();
    this.stopBatching();
    const cancel = this.clock.after(FLUSH_MS, () => this.redis.disconnect());
    this.flush();
    await this.sending;
    cancel();
    this.redis.disconnect();
  }

  private append(replica: Replica, entry: RunLogEntry): void {
    replica.last = entry.number;
    if (replica.mode !== 'open') return;
    replica.pending.push(entry);
    replica.size += entry.data.length;
    this.size += entry.data.length;
    while (this.size > BACKLOG_SIZE) this.giveUpLargest();
    this.touch(replica);
  }

  private finish(replica: Replica, mode: 'end' | 'lost'): void {
    if (replica.mode !== 'open') return;
    replica.mode = mode;
    replica.overSince = this.clock.monotonic();
    if (!this.open.delete(replica)) return;
    this.touch(replica);
  }

  private touch(replica: Replica): void {
    this.dirty.add(replica);
    this.flush();
  }

  private flush(): void {
    this.sending ??= this.sendAll();
  }

  private async sendAll(): Promise<void> {
    do {
      // What is written within one turn of the event loop goes together.
      await new Promise((resolve) => setImmediate(resolve));
      if (await this.sendBatch()) {
        this.failures = 0;
        if (this.size < BATCH_SIZE) await this.waitForBatch();
        continue;
      }
      this.failures += 1;
      this.forgetOver();
      if (this.closing) break;
      await this.pause();
    } while (this.dirty.size > 0);
    // In the same step as the last look, or what is written in between would wait for the next write.
    this.sending = undefined;
  }

  /** @returns whether Redis took the batch */
  private async sendBatch(): Promise<boolean> {
    if (this.redis.status !== 'ready') return false;
    const parts = this.nextParts();
    const pipeline = this.redis.pipeline();
    for (const { replica, mode, entries } of parts) {
      const expiry = mode === 'open' ? RUNNING_LOG_MS : ENDED_LOG_MS;
      const fields = entries.flatMap(({ tag, data }) => [tag, data]);
      pipeline.evalsha(APPEND_SCRIPT.digest, 1, replica.key, mode, expiry, replica.confirmed, replica.last, ...fields);
    }
    const results = (await pipeline.exec()) ?? [];
    let failure: Error | undefined;
    for (const [index, part] of parts.entries()) {
      const [error, written] = results[index] ?? [new Error('Redis gave no answer'), null];
      if (error) failure = error;
      else this.confirm(part, written as Written);
    }
    if (failure) await this.recover(failure);
    return failure === undefined;
  }

  private nextParts(): Part[] {
    const parts: Part[] = [];
    let room = BATCH_SIZE;
    for (const replica of this.dirty) {
      if (room <= 0) break;
      let count = 0;
      for (const { data } of replica.pending) {
        if (count === BATCH_ENTRIES || (count > 0 && data.length > room)) break;
        count += 1;
        room -= data.length;
      }
      const entries = replica.pending.slice(0, count);
      const all = count === replica.pending.length;
      parts.push({ replica, entries, mode: replica.mode === 'end' && !all ? 'open' : replica.mode });
    }
    return parts;
  }

  private confirm({ replica, mode, entries }: Part, written: Written): void {
    // Last in the line, if it still has something to send: no run keeps the others waiting.
    this.dirty.delete(replica);
    if (written !== 'ok') {
      if (written === 'lost' && mode !== 'lost') {
        this.logger.warn({ key: replica.key }, 'Redis has lost events of a run; other processes cannot follow it');
      }
      replica.mode = 'lost';
      this.open.delete(replica);
      this.clear(replica);
      return;
    }
    replica.confirmed += entries.length;
    // Given up meanwhile: nothing is pending, and the mark is still to be set.
    if (replica.mode !== 'lost') {
      this.shrink(replica, entries);
      replica.pending.splice(0, entries.length);
    }
    if (replica.pending.length > 0 || replica.mode !== mode) this.dirty.add(replica);
  }

  private async recover(failure: Error): Promise<void> {
    if (failure instanceof ReplyError) {
      if (failure.message.startsWith('NOSCRIPT')) await this.load();
      else if (this.failures === 0) this.logger.warn({ err: failure }, 'Redis refuses the events of runs');
    } else if (this.redis.status === 'ready') {
      // No answer in time. What was written may still wait in the socket: on a new one it does not pile up.
      this.redis.disconnect(true);
    }
  }

  /** Failing it is found out by the next batch. */
  private async load(): Promise<void> {
    await this.redis.script('LOAD', APPEND_SCRIPT.text).catch(() => undefined);
  }

  /** A command costs more than an event: what many runs say within a moment goes together. */
  private async waitForBatch(): Promise<void> {
    if (this.closing) return;
    await new Promise<void>((resolve) => {
      // The wall's time, whatever the clock says: it is the network that is spared.
      const timer = setTimeout(resolve, BATCH_GAP_MS);
      this.stopBatching = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async pause(): Promise<void> {
    const wait = Math.min(RETRY_MS * 2 ** Math.min(this.failures, 10), MAX_RETRY_MS);
    await new Promise<void>((resolve) => {
      const cancel = this.clock.after(wait, resolve);
      this.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Redis is too slow or gone: its copy of the log is worth less than this process's memory. */
  private giveUpLargest(): void {
    let largest: Replica | undefined;
    for (const replica of this.dirty) if (!largest || replica.size > largest.size) largest = replica;
    if (!largest) return;
    this.clear(largest);
    this.open.delete(largest);
    largest.mode = 'lost';
    largest.overSince ??= this.clock.monotonic();
    this.logger.warn({ key: largest.key }, 'Too much waits for Redis; other processes cannot follow this run');
  }

  /** What would have expired in Redis by now is not sent any more. */
  private forgetOver(): void {
    const oldest = this.clock.monotonic() - ENDED_LOG_MS;
    for (const replica of this.dirty) {
      if (replica.overSince === undefined || replica.overSince > oldest) continue;
      this.clear(replica);
      this.dirty.delete(replica);
    }
  }

  private clear(replica: Replica): void {
    this.size -= replica.size;
    replica.size = 0;
    replica.pending = [];
  }

  private shrink(replica: Replica, entries: readonly RunLogEntry[]): void {
    for (const { data } of entries) {
      replica.size -= data.length;
      this.size -= data.length;
    }
  }
}
