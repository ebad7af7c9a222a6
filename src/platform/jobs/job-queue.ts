import { Inject, Injectable } from '@nestjs/common';
import type { JobsOptions } from 'bullmq';
import { Logger } from '../telemetry/index.js';
import type { AnyJob } from './job-registry.js';
import { JobRegistry } from './job-registry.js';
import type { OutboxRow } from './outbox-store.js';
import type { BullProcessor, BullQueue, BullWorker, QueueBackend } from './queue-backend.js';
import { LOCK_MS, QUEUE_EVENTS_KEPT, SHARED_CONCURRENCY, STALLED_CHECK_MS } from './limits.js';

export const QUEUE_OPTIONS = Symbol('QUEUE_OPTIONS');

export interface QueueSettings {
  readonly openBackend: () => QueueBackend;
  /** Starts the names of the queues: installations, and tests, that share a Redis keep apart by it. */
  readonly namespace: string;
}

const SHARED_LANE = 'shared';
/** A died job's process counts its attempts in the row; this only has to be out of the row's way. */
const MAX_STALLED = 1_000;

/** The queue that runs the rows of the outbox: BullMQ, on Redis or on PostgreSQL. */
@Injectable()
export class JobQueue {
  private readonly lanes = new Map<string, BullQueue>();
  private backend: QueueBackend | undefined;

  constructor(
    @Inject(QUEUE_OPTIONS) private readonly settings: QueueSettings,
    private readonly registry: JobRegistry,
    private readonly logger: Logger,
  ) {}

  /** Call once the registry is complete. Does not wait for Redis: without it, jobs wait in the outbox. */
  async start(): Promise<void> {
    const backend = this.settings.openBackend();
    await backend.prepare();
    for (const lane of new Set([SHARED_LANE, ...this.registry.all().map(laneOf)])) {
      const queue = backend.openQueue(this.queueName(lane), { streams: { events: { maxLen: QUEUE_EVENTS_KEPT } } });
      queue.on('error', (error) => { this.report(error); });
      this.lanes.set(lane, queue);
    }
    this.backend = backend;
  }

  isReachable(): boolean {
    return this.backend?.isReachable() ?? false;
  }

  /** Rejects when what keeps the queue does not answer. */
  async ping(): Promise<void> {
    if (!this.isReachable()) throw new Error('The job queue is out of reach');
    await this.backend?.ping();
  }

  /** Calls `listener` when the queue is back after an absence, which may have cost it all that it held. */
  onReachable(listener: () => void): void {
    this.backend?.onReachable(listener);
  }

  /** Adds the rows' jobs; one that the queue has already, under the row's id, is left as it is. */
  async add(rows: readonly OutboxRow[]): Promise<void> {
    const known = [...this.known(rows)];
    for (const lane of new Set(known.map(({ job }) => laneOf(job)))) {
      const jobs = known.filter(({ job }) => laneOf(job) === lane);
      const entries = jobs.map(({ id, job }) => ({ name: job.name, data: { row: id }, opts: options(id, job) }));
      await this.lane(lane).addBulk(entries);
    }
  }

  /** Puts in place the schedulers that definitions ask for and the queue lacks or has otherwise. */
  async installSchedules(): Promise<void> {
    const queue = this.lane(SHARED_LANE);
    for (const { name, schedule } of this.registry.all()) {
      if (!schedule) continue;
      const wanted =
        'cron' in schedule ? { pattern: schedule.cron, tz: 'UTC' } : { every: schedule.everyMinutes * 60_000 };
      const present = await queue.getJobScheduler(name);
      // Putting the same one in place again would put off its next run.
      if (present && present.every === wanted.every && present.pattern === wanted.pattern) continue;
      await queue.upsertJobScheduler(name, wanted, {
        name: 'schedule',
        data: { schedule: name },
        opts: { attempts: 3, backoff: { type: 'fixed', delay: 1_000 }, removeOnComplete: true, removeOnFail: true },
      });
    }
  }

  /** Ends the schedulers of definitions that are gone. At the start only: an older replica would fight a newer one. */
  async removeForeignSchedules(): Promise<void> {
    const queue = this.lane(SHARED_LANE);
    for (const { key } of await queue.getJobSchedulers()) {
      if (!this.registry.definition(key)?.schedule) await queue.removeJobScheduler(key);
    }
  }

  openWorkers(processor: BullProcessor): BullWorker[] {
    const { backend } = this;
    if (!backend) throw new Error('The queue is not open');
    return [...this.lanes.keys()].map((lane) => {
      const worker = backend.openWorker(this.queueName(lane), processor, {
        concurrency: this.registry.definition(lane)?.concurrency ?? SHARED_CONCURRENCY,
        drainDelay: backend.idleWaitSeconds,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: MAX_STALLED,
      });
      worker.on('error', (error) => { this.report(error); });
      // Another worker may have the job by now; this one should leave it.
      worker.on('lockRenewalFailed', (ids) => {
        for (const id of ids) worker.cancelJob(id, 'The hold on the job was lost');
      });
      return worker;
    });
  }

  async close(): Promise<void> {
    const { backend } = this;
    this.backend = undefined;
    await Promise.all([...this.lanes.values()].map((queue) => queue.close()));
    await backend?.close();
  }

  private *known(rows: readonly OutboxRow[]): Generator<{ id: string; job: AnyJob }> {
    for (const { id, name } of rows) {
      const job = this.registry.definition(name);
      if (job) yield { id, job };
    }
  }

  private lane(name: string): BullQueue {
    const queue = this.lanes.get(name);
    if (!queue) throw new Error(`The queue ${name} is not open`);
    return queue;
  }

  private queueName(lane: string): string {
    return `${this.settings.namespace}-${lane}`;
  }

  private report(error: Error): void {
    // A lost connection is told once, by itself, and not by everybody who waits for it.
    if (this.isReachable()) this.logger.warn({ err: error }, 'The job queue reported an error');
  }
}

function options(id: string, { retry }: AnyJob): JobsOptions {
  return {
    jobId: id,
    attempts: retry.attempts,
    backoff: { type: 'exponential', delay: retry.backoffSeconds * 1000 },
    // The row tells what became of the job. One that stayed in the queue would keep its id from coming again.
    removeOnComplete: true,
    removeOnFail: true,
  };
}

/** A queue each for jobs with a limit of their own, one for all others. */
function laneOf({ name, concurrency }: AnyJob): string {
  return concurrency === undefined ? SHARED_LANE : name;
}
