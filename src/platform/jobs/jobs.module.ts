import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { Clock } from '../clock/index.js';
import { Settings } from '../config/index.js';
import { OPEN_DATABASE, type OpenDatabase } from '../database/index.js';
import { inOneSlot } from '../redis/index.js';
import { Logger } from '../telemetry/index.js';
import type { JobDefinition } from './job.js';
import { MetricsModule } from '../metrics/index.js';
import { JobMetrics } from './job-metrics.js';
import { JobRegistry, RegisteredJob, SCHEDULES } from './job-registry.js';
import { JobRunner } from './job-runner.js';
import { JobSchedules } from './job-schedules.js';
import { JobWorkers, WORKER_SETTINGS, type WorkerSettings } from './job-workers.js';
import { Outbox } from './outbox.js';
import { OutboxRelay } from './outbox-relay.js';
import { OutboxStore } from './outbox.sql.js';
import { QueueConnection } from './queue-connection.js';
import { WorkerPresence } from './worker-presence.js';
import { QUEUE_EVENTS_KEPT, STOP_GRACE_MS } from './limits.js';

/**
 * The outbox and the jobs of the application. Contexts declare theirs with `JobsModule.define`. Every role enqueues and relays;
 * `all` and `worker` also run jobs.
 */
@Global()
@Module({})
export class JobsModule {
  static forRoot(settings: Settings): DynamicModule {
    const workerSettings: WorkerSettings = {
      works: settings.role !== 'api',
      graceMs: Math.min(STOP_GRACE_MS, settings.shutdownMs),
    };
    const connection = {
      provide: QueueConnection,
      inject: [OPEN_DATABASE, Logger],
      useFactory: ({ native }: OpenDatabase, logger: Logger) => QueueConnection.open(settings, native, logger),
    };
    const queues = BullModule.forRootAsync({
      inject: [QueueConnection],
      extraProviders: [connection],
      extraOptions: { manualRegistration: true },
      useFactory: ({ client }: QueueConnection) => ({
        connection: client,
        // Installations that share a Redis have different prefixes.
        prefix: inOneSlot(client, `${settings.redisPrefix}-jobs`),
        streams: { events: { maxLen: QUEUE_EVENTS_KEPT } },
      }),
    });
    return {
      module: JobsModule,
      imports: [
        DiscoveryModule,
        MetricsModule,
        { ...queues, exports: [...(queues.exports ?? []), QueueConnection] },
        BullModule.registerQueue({ name: SCHEDULES }),
      ],
      providers: [
        { provide: WORKER_SETTINGS, useValue: workerSettings },
        JobRegistry,
        OutboxStore,
        OutboxRelay,
        {
          provide: Outbox,
          inject: [Clock, OutboxRelay],
          useFactory: (clock: Clock, relay: OutboxRelay) => new Outbox(clock, relay),
        },
        JobRunner,
        JobSchedules,
        JobWorkers,
        JobMetrics,
        WorkerPresence,
      ],
      exports: [Outbox],
    };
  }

  /** Declares jobs, each with its own queue. The application must provide exactly one processor for each. */
  static define(...jobs: readonly JobDefinition<unknown>[]): DynamicModule {
    const queues = jobs.map(({ name, retry }) => ({
      name,
      defaultJobOptions: {
        attempts: retry.attempts,
        backoff: { type: 'exponential', delay: retry.backoffSeconds * 1000 },
        // The row has the job's state. A job that stayed in the queue would keep its id from being added again.
        removeOnComplete: true,
        removeOnFail: true,
      },
    }));
    return {
      module: DefinedJobs,
      imports: [BullModule.registerQueue(...queues)],
      providers: jobs.map((job) => ({
        provide: `JOB:${job.name}`,
        inject: [getQueueToken(job.name), QueueConnection],
        useFactory: (queue: Queue, connection: QueueConnection): RegisteredJob => {
          connection.report(queue);
          return new RegisteredJob(job, queue);
        },
      })),
    };
  }
}

@Module({})
class DefinedJobs {}
