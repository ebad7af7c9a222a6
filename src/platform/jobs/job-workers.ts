import { BullRegistrar, ProcessorDecoratorService } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Worker } from 'bullmq';
import { Clock } from '../clock/index.js';
import { OPEN_DATABASE, type OpenDatabase, schemaState } from '../database/index.js';
import { endsWithin, ShutdownState, type ShutdownParticipant } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';
import { JobMetrics } from './job-metrics.js';
import { JobRegistry } from './job-registry.js';
import { JobRunner } from './job-runner.js';
import { JobSchedules } from './job-schedules.js';
import { OutboxRelay } from './outbox-relay.js';
import { OutboxStore } from './outbox.sql.js';
import { QueueConnection } from './queue-connection.js';
import { WorkerPresence } from './worker-presence.js';
import { ABORT_GRACE_MS, CLOSE_GRACE_MS, PURGE_BATCH, UPKEEP_MS } from './limits.js';

export const WORKER_SETTINGS = Symbol('WORKER_SETTINGS');

export interface WorkerSettings {
  /** False: this process writes and dispatches jobs but runs none. */
  readonly works: boolean;
  readonly graceMs: number;
}

/** Runs the jobs, and stops them before the parts that they use are closed. */
@Injectable()
export class JobWorkers implements ShutdownParticipant, OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly name = 'jobs';
  private workers: readonly Worker[] = [];
  private stopUpkeep: (() => void) | undefined;
  private upkeep: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_SETTINGS) private readonly settings: WorkerSettings,
    @Inject(OPEN_DATABASE) private readonly open: OpenDatabase,
    private readonly modules: ModuleRef,
    private readonly registry: JobRegistry,
    private readonly metrics: JobMetrics,
    private readonly connection: QueueConnection,
    private readonly runner: JobRunner,
    private readonly schedules: JobSchedules,
    private readonly relay: OutboxRelay,
    private readonly store: OutboxStore,
    private readonly presence: WorkerPresence,
    private readonly clock: Clock,
    private readonly shutdown: ShutdownState,
    private readonly logger: Logger,
  ) {}

  /** @throws Error for a job without a processor, before the process serves requests */
  onApplicationBootstrap(): void {
    this.registry.discover();
    this.metrics.register();
  }

  /**
   * Starts to run jobs and to relay the outbox. Called once the process serves requests: on the embedded database this thread
   * executes the hundreds of statements with which the queues begin, and the first requests would wait for them.
   */
  start(): void {
    if (this.settings.works) this.startWorkers();
    this.relay.start();
  }

  /** Takes no more jobs; resolves when none is active. */
  async idle(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
    await this.runner.idle();
  }

  abort(): Promise<void> {
    this.runner.abort();
    return Promise.resolve();
  }

  /**
   * Takes no more jobs, waits for the active ones, then aborts their signals. A job that ends then returns to the queue;
   * another worker finds the others stalled. A job that is enqueued from now on waits in the outbox for another process, or
   * for the next start.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.relay.stop();
    this.stopUpkeep?.();
    // Otherwise a graceful shutdown has waited for them and aborted them.
    if (!this.runner.isAborted()) {
      await endsWithin(this.settings.graceMs, this.clock, this.idle());
      await this.abort();
      await endsWithin(ABORT_GRACE_MS, this.clock, this.idle());
    }
    // With a limit, because Redis may become unreachable meanwhile.
    const closed = Promise.all([...this.workers.map((worker) => this.close(worker)), this.upkeep]);
    await endsWithin(CLOSE_GRACE_MS, this.clock, closed);
    if (this.settings.works) await this.retire();
    await Promise.all(this.registry.queues().map((queue) => queue.close()));
    await this.connection.close();
  }

  /** The library's own start would also run jobs in processes that only serve the API. */
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
    // A worker that closes normally would wait for Redis.
    if (!this.connection.isReachable()) return worker.close(true);
    // A forced close does not end the blocking wait for the next job, whose timer would keep the process alive.
    if (this.runner.isActive) await worker.getBackend().disconnectBlocking(false);
    await worker.close(this.runner.isActive);
  }

  private startUpkeep(): void {
    this.upkeep ??= this.keepUp()
      .catch((error: unknown) => {
        this.logger.warn(
          { err: error },
          'The worker could not report, or check the schedules of jobs; it tries again in a minute',
        );
      })
      .finally(() => {
        this.upkeep = undefined;
      });
  }

  /** After the upkeep, which would report again. */
  private async retire(): Promise<void> {
    const retired = this.presence.retire().catch((error: unknown) => {
      this.logger.warn({ err: error }, 'The worker could not report its end; it counts as present for another while');
    });
    await endsWithin(CLOSE_GRACE_MS, this.clock, retired);
  }

  private async keepUp(): Promise<void> {
    const refusal = await this.refusal();
    if (refusal !== undefined) {
      this.shutdown.fail(refusal);
      return;
    }
    await this.presence.report();
    let purged: number;
    do purged = await this.store.purgeDead();
    while (purged === PURGE_BATCH);
    if (this.connection.isReachable()) await this.schedules.install();
  }

  /**
   * A build that a deploy has left behind would fail jobs until they are dead, though newer workers can run them. No deploy
   * reaches an embedded database while this process has it.
   */
  private async refusal(): Promise<string | undefined> {
    const { database, migrations, native } = this.open;
    return native.kind === 'embedded' ? undefined : (await schemaState(database, migrations.all)).refusal;
  }
}
