import { BullRegistrar, ProcessorDecoratorService } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Worker } from 'bullmq';
import { Clock } from '../clock/index.js';
import { endsWithin, ShutdownState, type ShutdownParticipant } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';
import { JobMetrics } from './job-metrics.js';
import { JobRegistry } from './job-registry.js';
import { JobRunner } from './job-runner.js';
import { JobSchedules } from './job-schedules.js';
import { OutboxRelay } from './outbox-relay.js';
import { OutboxStore } from './outbox-store.js';
import { QueueConnection } from './queue-connection.js';
import { ABORT_GRACE_MS, CLOSE_GRACE_MS, PURGE_BATCH, UPKEEP_MS } from './limits.js';

export const WORKER_SETTINGS = Symbol('WORKER_SETTINGS');

export interface WorkerSettings {
  /** False: this process writes and dispatches jobs, and runs none. */
  readonly works: boolean;
  /** How long a stopping process lets its jobs end by themselves. */
  readonly graceMs: number;
}

/** Runs the jobs, and stops them while what they use is still there. */
@Injectable()
export class JobWorkers implements ShutdownParticipant, OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly name = 'jobs';
  private workers: readonly Worker[] = [];
  private stopUpkeep: (() => void) | undefined;
  private upkeep: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_SETTINGS) private readonly settings: WorkerSettings,
    private readonly modules: ModuleRef,
    private readonly registry: JobRegistry,
    private readonly metrics: JobMetrics,
    private readonly connection: QueueConnection,
    private readonly runner: JobRunner,
    private readonly schedules: JobSchedules,
    private readonly relay: OutboxRelay,
    private readonly store: OutboxStore,
    private readonly clock: Clock,
    private readonly shutdown: ShutdownState,
    private readonly logger: Logger,
  ) {}

  /** @throws Error for a job without its processor: before the process serves. */
  onApplicationBootstrap(): void {
    this.registry.discover();
    this.metrics.register();
  }

  /**
   * Begins to run jobs and to relay the outbox. Called once the process serves: on the embedded database this thread computes
   * the hundreds of statements with which the queues begin, and first requests would wait for them.
   */
  start(): void {
    if (this.settings.works) this.startWorkers();
    this.relay.start();
  }

  /** Takes no further job; resolves when none is active. */
  async idle(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
    await this.runner.idle();
  }

  abort(): Promise<void> {
    this.runner.abort();
    return Promise.resolve();
  }

  /**
   * Takes no further job, lets the active ones end for a while, then aborts their signals. A job that gives up goes
   * back to the queue; one that does not is left, and found stalled by another worker. What is enqueued from here on
   * waits in the outbox for another process, or for the next start.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.relay.stop();
    this.stopUpkeep?.();
    // Aborted already, by a shutdown that has given them their time.
    if (!this.runner.isAborted()) {
      await endsWithin(this.settings.graceMs, this.clock, this.idle());
      await this.abort();
      await endsWithin(ABORT_GRACE_MS, this.clock, this.idle());
    }
    // Redis may go away just now.
    const closed = Promise.all([...this.workers.map((worker) => this.close(worker)), this.upkeep]);
    await endsWithin(CLOSE_GRACE_MS, this.clock, closed);
    await Promise.all(this.registry.queues().map((queue) => queue.close()));
    await this.connection.close();
  }

  /** By hand, since the library's own start would also run jobs in processes that only serve the interface. */
  private startWorkers(): void {
    const decorator = this.modules.get(ProcessorDecoratorService, { strict: false });
    decorator.decorate = (processor) => this.runner.decorate(processor);
    this.connection.makeRoomFor(this.registry.processors().length);
    this.modules.get(BullRegistrar, { strict: false }).register();
    this.workers = this.registry.processors().map(({ worker }) => worker);
    for (const worker of this.workers) this.connection.report(worker);
    this.shutdown.register(this);
    this.stopUpkeep = this.clock.every(UPKEEP_MS, () => {
      this.startUpkeep();
    });
    this.connection.onReachable(() => {
      this.startUpkeep();
    });
    this.startUpkeep();
  }

  private async close(worker: Worker): Promise<void> {
    // Without Redis a worker would wait for it in order to take its leave.
    if (!this.connection.isReachable()) return worker.close(true);
    // A forced close leaves the wait for a next job to its timer, which would keep the process alive.
    if (this.runner.isActive) await worker.getBackend().disconnectBlocking(false);
    await worker.close(this.runner.isActive);
  }

  private startUpkeep(): void {
    this.upkeep ??= this.keepUp()
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The schedules of jobs could not be checked; they are later');
      })
      .finally(() => {
        this.upkeep = undefined;
      });
  }

  private async keepUp(): Promise<void> {
    let purged: number;
    do purged = await this.store.purgeDead();
    while (purged === PURGE_BATCH);
    if (this.connection.isReachable()) await this.schedules.install();
  }
}
