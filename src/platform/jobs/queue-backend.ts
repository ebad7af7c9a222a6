import {
  type BackendFactory, createPostgresBackend, createRedisBackend, DEFAULT_SCHEMA, type IQueueBackend, type PgPool,
  type Processor, Queue, type QueueOptions, runMigrations, Worker, type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Settings } from '../config/index.js';
import type { NativeDatabase } from '../database/index.js';
import { migratePglite, PglitePool } from './pglite-pool.js';
import { IDLE_WAIT_SECONDS } from './limits.js';

/** What the queue carries: a row's payload stays in the database. */
export type QueueData = { readonly row: string } | { readonly schedule: string };

// The types of one backend stand for both: they differ in the connection alone, which is not used through them.
export type BullQueue = Queue<QueueData, void>;
export type BullWorker = Worker<QueueData, void>;
export type BullProcessor = Processor<QueueData, void>;

/** Where BullMQ keeps its jobs. */
export interface QueueBackend {
  /** Seconds that a worker with nothing to do waits before it asks. */
  readonly idleWaitSeconds: number;
  /** Makes the tables where there are any. */
  prepare(): Promise<void>;
  /** False while adding a job would wait for a lost connection. */
  isReachable(): boolean;
  /** Asks Redis for a sign of life; a database is asked by others. */
  ping(): Promise<void>;
  /** Calls `listener` whenever it has become reachable: after the first connection, and after each lost one. */
  onReachable(listener: () => void): void;
  openQueue(name: string, options: Omit<QueueOptions, 'connection'>): BullQueue;
  openWorker(name: string, processor: BullProcessor, options: Omit<WorkerOptions, 'connection'>): BullWorker;
  close(): Promise<void>;
}

/** Redis where there is one; else PostgreSQL, the embedded or the server's. */
export function chooseBackend(
  settings: Settings,
  native: NativeDatabase,
  report: (error: Error) => void,
): QueueBackend {
  if (settings.redisUrl !== undefined) return redisBackend(settings.redisUrl, report);
  if (native.kind === 'embedded') return pgliteBackend(native);
  if (settings.databaseUrl === undefined) throw new Error('A PostgreSQL server is open but DATABASE_URL is unset');
  return postgresBackend(settings.databaseUrl, report);
}

function redisBackend(url: string, report: (error: Error) => void): QueueBackend {
  // Null: a worker outlives an absence of Redis of any length instead of failing after some commands.
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  let down = false;
  // One line an outage: the client reports each of its attempts.
  redis.on('error', (error: Error) => {
    if (!down) report(error);
    down = true;
  });
  redis.on('ready', () => (down = false));
  return {
    ...bull(redis, createRedisBackend as BackendFactory<IQueueBackend, Redis>),
    idleWaitSeconds: IDLE_WAIT_SECONDS.redis,
    prepare: () => Promise.resolve(),
    isReachable: () => redis.status === 'ready',
    ping: async () => {
      await redis.ping();
    },
    onReachable: (listener) => redis.on('ready', listener),
    close: async () => {
      // Quitting would wait for a Redis that is away.
      if (redis.status === 'ready') await redis.quit();
      else redis.disconnect();
    },
  };
}

function pgliteBackend({ pglite }: Extract<NativeDatabase, { kind: 'embedded' }>): QueueBackend {
  return {
    ...bull<PgPool>(new PglitePool(pglite), createPostgresBackend),
    idleWaitSeconds: IDLE_WAIT_SECONDS.postgres,
    prepare: () => migratePglite(pglite),
    isReachable: () => true,
    ping: () => Promise.resolve(),
    onReachable: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** A listening connection for each worker, and some for the queries of all. */
const POSTGRES_CONNECTIONS = 10;

function postgresBackend(connectionString: string, report: (error: Error) => void): QueueBackend {
  const pool = new pg.Pool({
    connectionString,
    max: POSTGRES_CONNECTIONS,
    keepAlive: true,
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  });
  pool.on('error', report);
  return {
    ...bull<PgPool>(pool, createPostgresBackend),
    idleWaitSeconds: IDLE_WAIT_SECONDS.postgres,
    prepare: async () => {
      const client = await pool.connect();
      try {
        await runMigrations(client, DEFAULT_SCHEMA);
      } finally {
        client.release();
      }
    },
    isReachable: () => true,
    ping: () => Promise.resolve(),
    onReachable: () => undefined,
    close: () => pool.end(),
  };
}

function bull<Connection>(
  connection: Connection,
  factory: BackendFactory<IQueueBackend, Connection>,
): Pick<QueueBackend, 'openQueue' | 'openWorker'> {
  return {
    openQueue: (name, options) => {
      const open = { ...options, connection } as QueueOptions<Connection>;
      return new Queue(name, open, factory) as unknown as BullQueue;
    },
    openWorker: (name, processor, options) => {
      const open = { ...options, connection } as WorkerOptions<Connection>;
      return new Worker(name, processor, open, factory) as unknown as BullWorker;
    },
  };
}
