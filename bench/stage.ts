import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Connections, Databases } from './databases.ts';
import type { Listening } from './ipc.ts';
import { LoadClient } from './load-client.ts';
import { OrderedProcess } from './ordered-process.ts';
import type { PostgresProcesses } from './postgres-processes.ts';
import { type Environment, Processes, type Service } from './processes.ts';
import type { SdkOrder, SdkReply } from './sdk-orders.ts';
import type { Target } from './targets.ts';

/** Connections to PostgreSQL, of the service and of the bare server. */
const POOL = 10;
const API_PROGRAM = 'bench_api';

/** The settings of a service on PostgreSQL and Redis, and its database. */
export interface ClusteredEnvironment {
  readonly env: Environment;
  readonly database: URL;
}

/** A running service. */
export interface RunningService {
  readonly service: Service;
  readonly env: Environment;
  /** Its connections to the database; undefined for an embedded database. */
  readonly connections?: () => Promise<Connections>;
  stop(): Promise<void>;
}

/** Starts and makes everything for the bench; `clear` removes all of it. */
export class Stage {
  readonly processes = new Processes();
  private readonly databases: Databases;
  private readonly redisUrl: string;
  private readonly redisPrefix = `bench-${randomBytes(4).toString('hex')}`;
  private readonly folders: string[] = [];
  /** Arguments for the service's Node. */
  private readonly nodeArgs: readonly string[];
  private upstreamOrigin = '';

  private constructor(databases: Databases, redisUrl: string, nodeArgs: readonly string[]) {
    this.databases = databases;
    this.redisUrl = redisUrl;
    this.nodeArgs = nodeArgs;
  }

  /** @param options `nodeArgs` for the service's Node, to profile it */
  static async set(options: {
    readonly databaseUrl: string;
    readonly redisUrl: string;
    readonly nodeArgs: readonly string[];
  }): Promise<Stage> {
    return new Stage(await Databases.connect(options.databaseUrl), options.redisUrl, options.nodeArgs);
  }

  /** Undefined if the server runs on another machine. */
  databaseProcesses(): Promise<PostgresProcesses | undefined> {
    return this.databases.processes();
  }

  databaseVersion(): Promise<string> {
    return this.databases.version();
  }

  startLoad(): LoadClient {
    return new LoadClient(this.processes.startFork('load.ts'));
  }

  /** Starts the process that measures the cost of sending a run's input. */
  startSdk(): OrderedProcess<SdkOrder, SdkReply> {
    return new OrderedProcess('SDK', this.processes.startFork('sdk.ts', [this.upstreamOrigin]));
  }

  async startUpstream(): Promise<Target> {
    const { port, pid } = await this.processes.startServer('upstream.ts');
    this.upstreamOrigin = `http://127.0.0.1:${port}`;
    return { kind: 'direct', origin: this.upstreamOrigin, pid, key: 'bench', threads: [] };
  }

  /** Starts a site to crawl, with an embeddings endpoint. @param vectors their size */
  startSite(pages: number, vectors = '256'): Promise<Listening> {
    return this.processes.startServer('knowledge-site.ts', [String(pages), vectors]);
  }

  startToolServer(): Promise<Listening> {
    return this.processes.startServer('tool-server.ts');
  }

  startHookServer(): Promise<Listening> {
    return this.processes.startServer('hook-server.ts');
  }

  startOtlpServer(): Promise<Listening> {
    return this.processes.startServer('otlp-server.ts');
  }

  startWorker(env: Environment): Promise<Service> {
    return this.processes.startService('worker', { ...env, PGAPPNAME: 'bench_worker' }, []);
  }

  async startBare(threads: number): Promise<Target> {
    const key = `ak_${randomBytes(32).toString('hex')}`;
    const database = await this.databases.create('bare');
    const args = [database.href, this.upstreamOrigin, String(POOL)];
    const { port, pid } = await this.processes.startServer('bare.ts', args, { BARE_KEY: key, NODE_ENV: 'production' });
    const origin = `http://127.0.0.1:${port}`;
    return { kind: 'bare', origin, pid, key, threads: Array.from({ length: threads }, () => randomUUID()) };
  }

  /** The settings of a service on PostgreSQL and Redis, with a new database. */
  async clusteredEnvironment(): Promise<ClusteredEnvironment> {
    const database = await this.databases.create('service');
    const env = {
      ...this.commonEnvironment(),
      DATABASE_URL: database.href,
      DATABASE_POOL: String(POOL),
      REDIS_URL: this.redisUrl,
      REDIS_PREFIX: this.redisPrefix,
      SECRETS_KEY: randomBytes(32).toString('base64'),
    };
    return { env, database };
  }

  /** Starts one API process; several may share the databases. */
  startApi({ env }: ClusteredEnvironment, nodeArgs: readonly string[] = []): Promise<Service> {
    // A variable of the driver, which distinguishes connections of API and worker.
    return this.processes.startService('api', { ...env, PGAPPNAME: API_PROGRAM }, [...this.nodeArgs, ...nodeArgs]);
  }

  /** Starts an API and a worker, as in production. */
  async startClustered(environment: ClusteredEnvironment, nodeArgs: readonly string[] = []): Promise<RunningService> {
    const { env, database } = environment;
    const service = await this.startApi(environment, nodeArgs);
    const worker = await this.startWorker(env);
    return {
      service,
      env,
      connections: () => this.databases.connections(database, API_PROGRAM),
      stop: async () => {
        await Promise.all([service.stop(), worker.stop()]);
      },
    };
  }

  /** The settings of embedded mode, with a new data folder. */
  embeddedEnvironment(): Environment {
    return { ...this.commonEnvironment(), DATA_DIR: this.makeFolder() };
  }

  makeFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'agents-bench-'));
    this.folders.push(folder);
    return folder;
  }

  async startEmbedded(env: Environment, nodeArgs: readonly string[] = []): Promise<RunningService> {
    const service = await this.processes.startService('all', env, [...this.nodeArgs, ...nodeArgs]);
    return { service, env, stop: () => service.stop() };
  }

  async clear(): Promise<void> {
    await this.processes.stop();
    for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    await this.forgetRedis();
    await this.databases.drop();
  }

  private commonEnvironment(): Record<string, string> {
    return {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      ANTHROPIC_API_KEY: 'bench',
      ANTHROPIC_BASE_URL: this.upstreamOrigin,
      SHUTDOWN_SECONDS: '5',
    };
  }

  private async forgetRedis(): Promise<void> {
    const redis = new Redis(this.redisUrl, { maxRetriesPerRequest: 1, lazyConnect: true });
    try {
      await redis.connect();
      for await (const keys of redis.scanStream({ match: `*${this.redisPrefix}*`, count: 1000 })) {
        if ((keys as string[]).length > 0) await redis.unlink(keys as string[]);
      }
    } finally {
      redis.disconnect();
    }
  }
}
