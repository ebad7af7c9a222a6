import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import { connectInTime, connectSubscriber, duplicateRedis, type RedisClient, redisName } from '../redis/index.js';
import type { Logger } from '../telemetry/index.js';
import { MemoryRunLog } from './memory-run-log.js';
import { RedisReplication } from './redis-replication.js';
import { logKey, SCRIPTS } from './redis-scripts.js';
import { RemoteLogs } from './remote-run-logs.js';
import { RunLog, type RunLogEntry, type RunLogWriter } from './run-log.js';
import { COMMAND_MS, ENDED_LOG_MS } from './limits.js';

export interface RedisRunLogOptions {
  readonly prefix: string;
  readonly processName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Closed with the log; without it the log opens one of its own. */
  readonly subscriber?: RedisClient;
}

/**
 * Logs in this process's memory, with copies in Redis for readers in other processes. Writing and reading a run of this
 * process never waits for Redis and does not need it.
 */
export class RedisRunLog extends RunLog implements OnApplicationShutdown {
  private readonly local: MemoryRunLog;
  private readonly replication: RedisReplication;
  private readonly remote: RemoteLogs;
  private closed: Promise<void> | undefined;

  private constructor(
    private readonly commands: RedisClient,
    subscriber: RedisClient,
    private readonly options: RedisRunLogOptions,
  ) {
    super();
    const { prefix, clock, logger } = options;
    this.local = new MemoryRunLog(clock);
    this.replication = new RedisReplication(commands, clock, logger);
    this.remote = new RemoteLogs(commands, subscriber, prefix, clock);
  }

  /** Opens a connection like the given one. If Redis is unreachable it connects later. */
  static async connect(redis: RedisClient, options: RedisRunLogOptions): Promise<RedisRunLog> {
    const { processName, subscriber } = options;
    const connectionName = redisName(processName, 'run-log');
    const commands = duplicateRedis(redis, { connectionName, commandTimeout: COMMAND_MS, scripts: SCRIPTS });
    // The given connection reports an outage.
    commands.on('error', () => undefined);
    const log = new RedisRunLog(commands, subscriber ?? (await connectSubscriber(redis, processName)), options);
    await connectInTime(commands, redis);
    return log;
  }

  get endedBytes(): number {
    return this.local.endedBytes;
  }

  open(runId: string): RunLogWriter {
    return this.local.open(runId, this.replication.start(logKey(this.options.prefix, runId)));
  }

  async read(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    return (await this.local.read(runId, after, signal)) ?? (await this.remote.read(runId, after, signal));
  }

  async seal(runId: string, tag: string, data: string): Promise<void> {
    if (this.local.has(runId)) return this.local.seal(runId, tag, data);
    const { prefix, logger } = this.options;
    try {
      await this.commands.sealRunLog(logKey(prefix, runId), ENDED_LOG_MS, tag, data);
    } catch (error) {
      logger.warn({ err: error, runId }, 'The log of a dead run could not be ended; it will expire');
    }
  }

  /** Sends the entries that Redis lacks, within `FLUSH_MS`. Readers of other processes' runs end. */
  close(): Promise<void> {
    this.remote.close();
    return (this.closed ??= this.replication.close());
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}
