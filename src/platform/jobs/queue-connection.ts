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
  // PostgreSQL's tables know no prefix; the name alone keeps apart the queues of those who share a database.
  return createPostgresBackend(`${prefix}-${name}`, { ...options, connection }, kind);
};

/** The worker that `@nestjs/bullmq` makes for each processor. */
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
    // Another worker may have the job by now; this one should leave it.
    this.on('lockRenewalFailed', (ids) => {
      for (const id of ids) this.cancelJob(id, 'The hold on the job was lost');
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

  /** Redis where there is one, without waiting for it; else PostgreSQL, the embedded or the server's, its tables made. */
  static async open(
    { redisUrl, databaseUrl }: Settings,
    native: NativeDatabase,
    logger: Logger,
  ): Promise<QueueConnection> {
    // Null: a worker outlives an absence of Redis of any length instead of failing after some commands.
    if (redisUrl !== undefined)
      return new QueueConnection(new Redis(redisUrl, { maxRetriesPerRequest: null }), logger).watch();
    if (native.kind === 'embedded') {
      await migratePglite(native.pglite);
      return new QueueConnection(new PglitePool(native.pglite), logger);
    }
    const options = `-c search_path=${DEFAULT_SCHEMA}`;
    const pool = new pg.Pool({ connectionString: databaseUrl, max: POSTGRES_CONNECTIONS, keepAlive: true, options });
    // Every queue and worker hears of its errors: more of them than Node takes for a leak.
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
   * Makes room for workers before they start: on PostgreSQL each keeps a connection on which it listens, and where those
   * take all that the pool may have, every query of the queue waits for ever.
   */
  makeRoomFor(workers: number): void {
    if (this.client instanceof pg.Pool) this.client.options.max = workers + POSTGRES_CONNECTIONS;
  }

  /** False while adding a job would wait for a lost connection. */
  isReachable(): boolean {
    return !(this.client instanceof Redis) || this.client.status === 'ready';
  }

  /** Rejects when Redis does not answer; a database is asked by others. */
  async ping(): Promise<void> {
    if (this.client instanceof Redis) await this.client.ping();
  }

  /** Calls `listener` when the queue is back after an absence, which may have cost it all that it held. */
  onReachable(listener: () => void): void {
    if (this.client instanceof Redis) this.client.on('ready', listener);
  }

  /** Has a queue or worker report its errors; a lost connection is logged once, by the connection, and not by everything that waits for it. */
  report(user: QueueBase): void {
    user.on('error', (error: Error) => {
      if (this.isReachable()) this.logger.warn({ err: error }, 'The job queue reported an error');
    });
  }

  async close(): Promise<void> {
    if (!(this.client instanceof Redis)) await this.client.end();
    // Quitting would wait for a Redis that is away.
    else if (this.isReachable()) await this.client.quit();
    else this.client.disconnect();
  }

  /** One line an outage: the client reports each of its attempts. */
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
