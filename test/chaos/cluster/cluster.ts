import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Findings } from '../findings.ts';
import { freePort } from '../../support/lasting-port.ts';
import type { Programs } from './programs.ts';
import { Outages } from './outages.ts';
import { PostgresPair } from './postgres-pair.ts';
import { RedisPair } from './redis-pair.ts';
import { Service } from './service.ts';

export interface ClusterOptions {
  readonly programs: Programs;
  readonly folder: string;
  readonly findings: Findings;
  /** The folder of the release that is tested. */
  readonly build: string;
  /** That of the release before it. */
  readonly former: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** More lines of `postgresql.conf`. */
  readonly configuration?: string;
}

/** Two API processes, two workers, and PostgreSQL and Redis of their own. */
export class Cluster {
  readonly postgres: PostgresPair;
  readonly redis: RedisPair;
  readonly outages: Outages;
  readonly services: readonly Service[];
  readonly build: string;
  readonly former: string | undefined;
  /** The release that processes are started with. */
  current: string;
  private readonly environment: Readonly<Record<string, string>>;

  private constructor(
    options: ClusterOptions,
    parts: Pick<Cluster, 'postgres' | 'redis' | 'outages' | 'services'>,
    environment: Readonly<Record<string, string>>,
  ) {
    this.postgres = parts.postgres;
    this.redis = parts.redis;
    this.outages = parts.outages;
    this.services = parts.services;
    this.build = options.build;
    this.former = options.former;
    this.current = options.former ?? options.build;
    this.environment = environment;
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const { programs, folder, findings } = options;
    const outages = new Outages();
    const [postgres, redis] = await Promise.all([
      PostgresPair.start(programs, folder, options.configuration),
      RedisPair.start(programs, folder),
    ]);
    const logs = join(folder, 'logs');
    mkdirSync(logs);
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
    const environment = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      DATA_DIR: join(folder, 'data'),
      SECRETS_KEY: randomBytes(32).toString('base64'),
      PUBLIC_URL: `http://127.0.0.1:${ports[0] ?? 0}`,
      ...options.environment,
    };
    mkdirSync(environment.DATA_DIR);
    const names = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
    const services = names.map((name, index) => {
      const role = name.startsWith('api') ? 'api' : 'worker';
      return new Service({ role, name, port: ports[index] ?? 0, environment, logs, findings, outages });
    });
    const cluster = new Cluster(options, { postgres, redis, outages, services }, environment);
    // One after the other, so that one of them makes the tables.
    for (const service of services) await service.start(cluster.current);
    return cluster;
  }

  get apis(): readonly Service[] {
    return this.services.filter(({ role }) => role === 'api');
  }

  get workers(): readonly Service[] {
    return this.services.filter(({ role }) => role === 'worker');
  }

  /** Runs an operator's command of the tested release. */
  async operate(...line: readonly string[]): Promise<Record<string, string>> {
    const { PATH = '', HOME = '' } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, ['dist/cli.js', ...line], {
      cwd: this.current,
      env: { PATH, HOME, ...this.environment, DATABASE_URL: this.postgres.directUrl },
    });
    return JSON.parse(stdout) as Record<string, string>;
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
    await Promise.all([this.postgres.close(), this.redis.close()]);
  }
}
