import { BullModule } from '@nestjs/bullmq';
import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  type PgPool,
  type Processor,
  type QueueBase,
  runMigrations,
  setDefaultBackendFactory,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Settings } from '../config/index.js';
import type { NativeDatabase } from '../database/index.js';
import type { Logger } from '../telemetry/index.js';
import { migratePglite, PglitePool } from './pglite-pool.js';
import { IDLE_WAIT_SECONDS, LOCK_MS, MAX_STALLED, STALLED_CHECK_MS } from './limits.js';

/** For the queries of all queues and workers of a process on PostgreSQL. */
const POSTGRES_CONNECTIONS = 4;

const createBackend: BackendFactory<IQueueBackend, Redis | PgPool> = (name, options, kind) => {
  const { connection, prefix = '' } = options as typeof options & { readonly prefix?: string };
  if (connection instanceof Redis) return createRedisBackend(name, { ...options, connection }, kind);
  // PostgreSQL's tables have no prefix; only the name separates the queues of installations that share a database.
  return createPostgresBackend(`${prefix}-${name}`, { ...options, connection }, kind);
};

class JobWorker extends Worker {
  constructor(name: string, processor: Processor, options: WorkerOptions) {
    const onRedis: boolean = options.connection instanceof Redis;
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
}

setDefaultBackendFactory(createBackend);
BullModule.workerClass = JobWorker;

/** What all queues and workers of a process share: Redis, or the queue's tables in PostgreSQL. */
export class QueueConnection {
  constructor(
    readonly client: Redis | PgPool,
    private readonly logger: Logger,
  ) {}

  /** Redis if it is configured, without waiting for it; otherwise PostgreSQL, embedded or a server, whose tables are created. */
  static async open(
    { redisUrl, databaseUrl }: Settings,
    native: NativeDatabase,
    logger: Logger,
  ): Promise<QueueConnection> {
    // With null, workers wait through an outage of Redis of any length instead of failing after some retries.
    if (redisUrl !== undefined)
      return new QueueConnection(new Redis(redisUrl, { maxRetriesPerRequest: null }), logger).watch();
    if (native.kind === 'embedded') {
      await migratePglite(native.pglite);
      return new QueueConnection(new PglitePool(native.pglite), logger);
    }
    const options = `-c search_path=${DEFAULT_SCHEMA}`;
    const pool = new pg.Pool({ connectionString: databaseUrl, max: POSTGRES_CONNECTIONS, keepAlive: true, options });
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
    return !(this.client instanceof Redis) || this.client.status === 'ready';
  }

  /** Rejects if Redis does not respond. The database has its own health check. */
  async ping(): Promise<void> {
    if (this.client instanceof Redis) await this.client.ping();
  }

  /** Calls `listener` when Redis is reachable again; it may have lost all jobs. */
  onReachable(listener: () => void): void {
    if (this.client instanceof Redis) this.client.on('ready', listener);
  }

  /** Logs the errors of a queue or worker, except for a lost connection, which the connection logs once. */
  report(user: QueueBase): void {
    user.on('error', (error: Error) => {
      if (this.isReachable()) this.logger.warn({ err: error }, 'The job queue reported an error');
    });
  }

  async close(): Promise<void> {
    if (!(this.client instanceof Redis)) await this.client.end();
    // Quitting would wait for an unreachable Redis.
    else if (this.isReachable()) await this.client.quit();
    else this.client.disconnect();
  }

  /** Logs one line for each outage; the client reports each of its attempts. */
  private watch(): this {
    let down = false;
    this.client.on('error', (error: Error) => {
      if (!down) this.logger.warn({ err: error }, 'The job queue cannot be reached; jobs wait in the database');
      down = true;
    });
    this.onReachable(() => (down = false));
    return this;
  }
}
