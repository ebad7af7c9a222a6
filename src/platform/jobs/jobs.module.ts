import {
  type BeforeApplicationShutdown, type DynamicModule, Global, Inject, Injectable, Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Settings } from '../config/index.js';
import { OPEN_DATABASE, type OpenDatabase } from '../database/index.js';
import { Logger } from '../telemetry/index.js';
import type { JobDefinition } from './job.js';
import { JobQueue, QUEUE_OPTIONS, type QueueSettings } from './job-queue.js';
import { DeclaredJobs, JobRegistry } from './job-registry.js';
import { JobRunner } from './job-runner.js';
import { JobWorkers } from './job-workers.js';
import { JobQueueHealth } from './job-queue-health.js';
import { Outbox } from './outbox.js';
import { OutboxRelay } from './outbox-relay.js';
import { OutboxStore } from './outbox-store.js';
import { chooseBackend } from './queue-backend.js';
import { STOP_GRACE_MS } from './limits.js';

const JOB_SETTINGS = Symbol('JOB_SETTINGS');

interface JobSettings {
  readonly works: boolean;
  readonly graceMs: number;
}

/** Starts the jobs when everything that they use is ready, and stops them while it still is. */
@Injectable()
class JobsLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(JOB_SETTINGS) private readonly settings: JobSettings,
    private readonly registry: JobRegistry,
    private readonly queue: JobQueue,
    private readonly relay: OutboxRelay,
    private readonly workers: JobWorkers,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.registry.discover();
    await this.queue.start();
    if (this.settings.works) this.workers.start();
    this.relay.start();
  }

  /** What is enqueued from here on waits in the outbox for another process, or for the next start. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.relay.stop();
    await this.workers.stop(this.settings.graceMs);
    await this.queue.close();
  }
}

export interface JobsModuleOptions {
  /** See `QueueSettings.namespace`. */
  readonly namespace?: string;
}

/**
 * The outbox and its jobs, for the whole application; contexts add theirs with `JobsModule.define`. Needs the modules
 * of the database, the clock and the log. Every role enqueues and relays; `all` and `worker` also run jobs.
 */
@Global()
@Module({})
export class JobsModule {
  static forRoot(
    settings: Settings,
    { namespace = `${settings.redisPrefix}-jobs` }: JobsModuleOptions = {},
  ): DynamicModule {
    const jobSettings: JobSettings = {
      works: settings.role !== 'api',
      graceMs: Math.min(STOP_GRACE_MS, settings.shutdownMs),
    };
    return {
      module: JobsModule,
      imports: [DiscoveryModule],
      providers: [
        { provide: JOB_SETTINGS, useValue: jobSettings },
        {
          provide: QUEUE_OPTIONS,
          inject: [OPEN_DATABASE, Logger],
          useFactory: ({ native }: OpenDatabase, logger: Logger): QueueSettings => {
            const report = (error: Error): void => { logger.warn({ err: error }, 'The job queue cannot be reached; jobs wait in the database'); };
            return { namespace, openBackend: () => chooseBackend(settings, native, report) };
          },
        },
        JobRegistry,
        OutboxStore,
        JobQueue,
        OutboxRelay,
        Outbox,
        JobRunner,
        JobWorkers,
        JobsLifecycle,
        ...(settings.redisUrl === undefined ? [] : [JobQueueHealth]),
      ],
      exports: [Outbox],
    };
  }

  /** Declares jobs; the handler of each must be among the application's providers, once. */
  static define(...jobs: readonly JobDefinition<unknown>[]): DynamicModule {
    const declared = new DeclaredJobs(jobs);
    // The names keep the token, and with it the module, apart from another `define`'s.
    const token = `DECLARED_JOBS:${jobs.map(({ name }) => name).join(',')}`;
    return { module: DefinedJobs, providers: [{ provide: token, useValue: declared }] };
  }
}

/** Carries the declarations of one `define` to the registry. */
@Module({})
class DefinedJobs {}
