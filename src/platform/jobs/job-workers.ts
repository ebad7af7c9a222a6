import { Injectable } from '@nestjs/common';
import { UnrecoverableError, WaitingError } from 'bullmq';
import { Clock } from '../clock/index.js';
import { ShutdownState, type ShutdownParticipant } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';
import { JobQueue } from './job-queue.js';
import { DeadLetter, JobRunner, ProcessStopping } from './job-runner.js';
import { OutboxStore } from './outbox-store.js';
import type { BullProcessor, BullWorker } from './queue-backend.js';
import { ABORT_GRACE_MS, CLOSE_GRACE_MS, PURGE_BATCH, UPKEEP_MS } from './limits.js';

type BullJob = Parameters<BullProcessor>[0];

/** This process's share of the work: takes jobs from the queue, runs them and keeps the schedules in place. */
@Injectable()
export class JobWorkers implements ShutdownParticipant {
  readonly name = 'jobs';
  private readonly stopping = new AbortController();
  private readonly active = new Set<Promise<void>>();
  private workers: readonly BullWorker[] = [];
  private stopUpkeep: (() => void) | undefined;
  private upkeep: Promise<void> | undefined;
  private foreignSchedulesRemoved = false;

  constructor(
    private readonly queue: JobQueue,
    private readonly runner: JobRunner,
    private readonly store: OutboxStore,
    private readonly clock: Clock,
    private readonly draining: ShutdownState,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.draining.register(this);
    this.workers = this.queue.openWorkers((job, token, signal) => this.track(this.process(job, token, signal)));
    this.stopUpkeep = this.clock.every(UPKEEP_MS, () => { this.startUpkeep(); });
    this.queue.onReachable(() => { this.startUpkeep(); });
    this.startUpkeep();
  }

  /** Takes no further job; resolves when none is active. */
  async idle(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  /** Makes the active jobs give up. One that does goes back to the queue. */
  abort(): Promise<void> {
    this.stopping.abort(new ProcessStopping('The process stops'));
    return Promise.resolve();
  }

  /**
   * Takes no further job, lets the active ones end for `graceMs`, then aborts their signals. A job that gives up goes
   * back to the queue; one that does not is left, and found stalled by another worker.
   */
  async stop(graceMs: number): Promise<void> {
    this.stopUpkeep?.();
    // Aborted already, by a shutdown that has given them their time.
    if (!this.stopping.signal.aborted) {
      await this.within(graceMs, this.idle());
      await this.abort();
      await this.within(ABORT_GRACE_MS, this.idle());
    }
    // Redis may go away just now.
    await this.within(CLOSE_GRACE_MS, Promise.all([...this.workers.map((worker) => this.close(worker)), this.upkeep]));
  }

  private async close(worker: BullWorker): Promise<void> {
    // Without Redis a worker would wait for it in order to take its leave.
    if (!this.queue.isReachable()) return worker.close(true);
    const abandon = this.active.size > 0;
    // A forced close leaves the wait for a next job to its timer, which would keep the process alive.
    if (abandon) await worker.getBackend().disconnectBlocking(false);
    await worker.close(abandon);
  }

  private async process(job: BullJob, token: string | undefined, cancelled: AbortSignal | undefined): Promise<void> {
    if ('schedule' in job.data) return this.runner.tick(job.data.schedule);
    const signal = AbortSignal.any([this.stopping.signal, ...(cancelled ? [cancelled] : [])]);
    let outcome: 'done' | 'interrupted';
    try {
      outcome = await this.runner.run(job.data.row, signal);
    } catch (error) {
      throw error instanceof DeadLetter ? new UnrecoverableError(error.message) : error;
    }
    switch (outcome) {
      case 'done':
        return;
      case 'interrupted':
        await job.moveToWait(token);
        throw new WaitingError();
      default:
        outcome satisfies never;
    }
  }

  private track(run: Promise<void>): Promise<void> {
    this.active.add(run);
    const forget = (): void => void this.active.delete(run);
    run.then(forget, forget);
    return run;
  }

  /** Waits for `work`, but no longer than `ms`. */
  private async within(ms: number, work: Promise<unknown>): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([work, this.clock.sleep(ms, waiting.signal).catch(() => undefined)]);
    waiting.abort();
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
    if (!this.queue.isReachable()) return;
    if (!this.foreignSchedulesRemoved) await this.queue.removeForeignSchedules();
    this.foreignSchedulesRemoved = true;
    await this.queue.installSchedules();
  }
}
