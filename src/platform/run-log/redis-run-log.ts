import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';
import type { Logger } from '../telemetry/index.js';
import type { MemoryLog } from './memory-log.js';
import { MemoryRunLog } from './memory-run-log.js';
import { RedisReplication, type ReplicaWriter } from './redis-replication.js';
import { logKey, SEAL_SCRIPT } from './redis-scripts.js';
import { RemoteLogs } from './remote-run-logs.js';
import { RunLog, type RunLogEntry, type RunLogWriter } from './run-log.js';
import { COMMAND_MS, ENDED_LOG_MS } from './limits.js';

export interface RedisRunLogOptions {
  /** Begins every key. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The log in this process's memory, copied to Redis for readers in other processes. Writing and reading a
 * run of this process never waits for Redis, and goes on without it.
 */
export class RedisRunLog extends RunLog implements OnApplicationShutdown {
  private readonly local: MemoryRunLog;
  private readonly running = new Map<string, LocalRun>();
  private readonly replication: RedisReplication;
  private readonly remote: RemoteLogs;
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly commands: Redis,
    subscriber: Redis,
    private readonly options: RedisRunLogOptions,
  ) {
    super();
    const { prefix, clock, logger } = options;
    this.local = new MemoryRunLog(clock);
    this.replication = new RedisReplication(commands, prefix, clock, logger);
    this.remote = new RemoteLogs(commands, subscriber, prefix, clock);
  }

  /** Opens two connections like the one given. Does not fail when Redis is down: they come up when it does. */
  static async connect(redis: Redis, options: RedisRunLogOptions): Promise<RedisRunLog> {
    const [commands, subscriber] = [1, 2].map(() => {
      const connection = redis.duplicate({ commandTimeout: COMMAND_MS, autoResubscribe: false });
      // The connection they are made from reports the outage.
      connection.on('error', () => undefined);
      return connection;
    }) as [Redis, Redis];
    const log = new RedisRunLog(commands, subscriber, options);
    await Promise.allSettled([commands.connect(), subscriber.connect()]);
    return log;
  }

  open(runId: string): RunLogWriter {
    const run = new LocalRun(this.local.open(runId), this.replication.start(runId), () => this.running.delete(runId));
    this.running.set(runId, run);
    return run;
  }

  async read(
    runId: string,
    after: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    return (await this.local.read(runId, after, signal)) ?? (await this.remote.read(runId, after, signal));
  }

  async seal(runId: string, tag: string, data: string): Promise<void> {
    const own = this.running.get(runId);
    if (own) {
      own.seal(tag, data);
      return;
    }
    const { prefix, logger } = this.options;
    try {
      await this.commands.eval(SEAL_SCRIPT, 1, logKey(prefix, runId), ENDED_LOG_MS, tag, data);
    } catch (error) {
      logger.warn({ err: error, runId }, 'The log of a dead run could not be ended; it expires');
    }
  }

  /** Sends what Redis does not have yet, within bounds. Readers of other processes' runs end. */
  close(): Promise<void> {
    if (!this.closed) {
      this.remote.close();
      this.closed = this.replication.close();
    }
    return this.closed;
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

/** A run of this process: its log, and the copy of it. */
class LocalRun implements RunLogWriter {
  constructor(
    private readonly log: MemoryLog,
    private readonly replica: ReplicaWriter,
    private readonly onEnd: () => void,
  ) {}

  append(tag: string, data: string): void {
    const entry = this.log.append(tag, data);
    if (entry) this.replica.append(entry);
  }

  end(): void {
    this.log.end();
    this.replica.end();
    this.onEnd();
  }

  seal(tag: string, data: string): void {
    const entry = this.log.seal(tag, data);
    if (entry) this.replica.append(entry);
    this.replica.end();
    this.onEnd();
  }
}
