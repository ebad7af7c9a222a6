import { BullModule } from '@nestjs/bullmq';
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  type Job,
  type PgPool,
  type Processor,
  type QueueBase,
  runMigrations,
  setDefaultBackendFactory,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis, ReplyError } from 'ioredis';
import pg from 'pg';
import type { Settings } from '../config/index.js';
import { codeOf } from '../errors/index.js';
import type { NativeDatabase } from '../database/index.js';
import { isRedisClient, openRedis, type RedisClient, redisName, within } from '../redis/index.js';
import type { Logger } from '../telemetry/index.js';
import { migratePglite, PglitePool } from './pglite-pool.js';
import { ANSWER_MS, IDLE_WAIT_SECONDS, LOCK_MS, MAX_STALLED, PAUSE_MS, STALLED_CHECK_MS } from './limits.js';

const SQL_STATE = /^[0-9A-Z]{5}$/;
/** For the queries of all queues and workers of a process on PostgreSQL. */
const POSTGRES_CONNECTIONS = 4;

const createBackend: BackendFactory<IQueueBackend, RedisClient | PgPool> = (name, options, kind) => {
  const { connection, prefix = '' } = options as typeof options & { readonly prefix?: string };
  if (isRedisClient(connection)) return createRedisBackend(name, { ...options, connection }, kind);
  // PostgreSQL's tables have no prefix; only the name separates the queues of installations that share a database.
  return createPostgresBackend(`${prefix}-${name}`, { ...options, connection }, kind);
};

class JobWorker extends Worker {
  constructor(name: string, processor: Processor, options: WorkerOptions) {
    const onRedis = isRedisClient(options.connection);
    super(name, processor, {
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLED,
      drainDelay: onRedis ? IDLE_WAIT_SECONDS.redis : IDLE_WAIT_SECONDS.postgres,
      ...options,
    });
    // Another worker may run the job by now.
    this.on('lockRenewalFailed', (ids) => {
      for (const id of ids) this.cancelJob(id, 'The lock of the job was lost');
    });
  }

  /** The library pauses only after the loss of a connection. After another error of the database it would ask again at once, thousands of times a second. */
  protected override async moveToActive(...parameters: Parameters<Worker['moveToActive']>): Promise<Job> {
    try {
      return await super.moveToActive(...parameters);
    } catch (error) {
      if (!this.closing && SQL_STATE.test(codeOf(error) ?? '')) await this.delay(PAUSE_MS);
      throw error;
    }
  }
}

setDefaultBackendFactory(createBackend);
BullModule.workerClass = JobWorker;

/** What all queues and workers of a process share: Redis, or the queue's tables in PostgreSQL. */
export class QueueConnection {
  private answer: Promise<unknown> | undefined;

  constructor(
    readonly client: RedisClient | PgPool,
    private readonly logger: Logger,
  ) {}

  /** Redis if it is configured, without waiting for it; otherwise PostgreSQL, embedded or a server, whose tables are created. */
  static async open(
    { redisUrl, databaseUrl, databaseDirectUrl, processName }: Settings,
    native: NativeDatabase,
    logger: Logger,
  ): Promise<QueueConnection> {
    // With null, workers wait through an outage of Redis of any length instead of failing after some retries.
    if (redisUrl !== undefined) {
      const connectionName = redisName(processName, 'jobs');
      const client = openRedis(redisUrl, { connectionName, maxRetriesPerRequest: null });
      return new QueueConnection(client, logger).watch(client);
    }
    if (native.kind === 'embedded') {
      await migratePglite(native.pglite);
      return new QueueConnection(new PglitePool(native.pglite), logger);
    }
    const options = `-c search_path=${DEFAULT_SCHEMA}`;
    const pool = new pg.Pool({
      // Workers listen, which a pooler's connection does not allow.
      connectionString: databaseDirectUrl ?? databaseUrl,
      max: POSTGRES_CONNECTIONS,
      keepAlive: true,
      options,
      fallback_application_name: `${processName} jobs`,
    });
    // Every queue and worker listens for its errors; Node would warn of a leak.
    pool.setMaxListeners(0);
    const client = await pool.connect();
    try {
      await runMigrations(client, DEFAULT_SCHEMA);
    } finally {
      client.release();
    }
    return new QueueConnection(pool, logger);
  }

  /**
   * Raises the size of the pool before workers start: on PostgreSQL each keeps a connection on which it listens, and if those
   * were all connections of the pool, every query of the queue would wait forever.
   */
  makeRoomFor(workers: number): void {
    if (this.client instanceof pg.Pool) this.client.options.max = workers + POSTGRES_CONNECTIONS;
  }

  /** False while the connection is lost and adding a job would wait. */
  isReachable(): boolean {
    return !isRedisClient(this.client) || this.client.status === 'ready';
  }

  /**
   * Replaces the connection if it does not answer, because commands wait without a limit, and TCP takes a quarter of an hour to
   * notice that a host has vanished. They are sent again. Nodes of a cluster end by themselves.
   */
  async check(): Promise<void> {
    const { client } = this;
    const isOpen = (): boolean => client instanceof Redis && (client.status === 'connect' || client.status === 'ready');
    if (!(client instanceof Redis) || !isOpen()) return;
    // One that waits is sent again, too.
    this.answer ??= client.ping().finally(() => (this.answer = undefined));
    await within(ANSWER_MS, this.answer).catch((error: unknown) => {
      if (isOpen() && !(error instanceof ReplyError)) client.disconnect(true);
    });
  }

  /** Calls `listener` when Redis is reachable again; it may have lost all jobs. */
  onReachable(listener: () => void): void {
    if (isRedisClient(this.client)) this.client.on('ready', listener);
  }

  /** Logs the errors of a queue or worker, except for a lost connection, which the connection logs once. */
  report(user: QueueBase): void {
    user.on('error', (error: Error) => {
      if (this.isReachable()) this.logger.warn({ err: error }, 'The job queue reported an error');
    });
  }

  async close(): Promise<void> {
    if (!isRedisClient(this.client)) await this.client.end();
    // Quitting would wait for an unreachable Redis.
    else if (this.isReachable()) await this.client.quit();
    else this.client.disconnect();
  }

  /** Logs one line for each outage; the client reports each of its attempts. */
  private watch(client: RedisClient): this {
    let down = false;
    client.on('error', (error: Error) => {
      if (!down) this.logger.warn({ err: error }, 'The job queue cannot be reached; jobs wait in the database');
      down = true;
    });
    this.onReachable(() => (down = false));
    return this;
  }
}
