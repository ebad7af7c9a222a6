import { Injectable } from '@nestjs/common';
import { Clock, withinTime } from '../clock/index.js';
import { type LabelValues, Metrics, type Reading } from '../metrics/index.js';
import { JobRegistry } from './job-registry.js';
import { COUNT_KEPT_MS, COUNT_TIMEOUT_MS } from './limits.js';
import { type JobDepth, OutboxStore } from './outbox-store.js';

const STATES = ['waiting', 'running', 'dead'] as const;
const NEVER = new AbortController().signal;

/** What is known of the jobs; null where the database could not be asked. */
type Count = ReadonlyMap<string, JobDepth> | null;

/**
 * How many jobs there are, and for how long they wait. All processes tell the same, since they share the outbox. A count
 * is kept for a while, also one that failed, and several who ask at once wait for the same one.
 */
@Injectable()
export class JobMetrics {
  private counted: { readonly at: number; readonly count: Count } | undefined;
  private counting: Promise<Count> | undefined;

  constructor(
    private readonly registry: JobRegistry,
    private readonly store: OutboxStore,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /** Once the jobs are known, whose names are the labels. */
  declare(): void {
    const jobs = this.registry.all().map(({ definition }) => definition.name);
    this.gauge(
      'agent_service_jobs',
      'Jobs by state; one that waits for another attempt counts as running.',
      { job_name: jobs, state: STATES },
      (count) =>
        jobs.flatMap((job) =>
          STATES.map((state) => ({ labels: { job_name: job, state }, value: count.get(job)?.[state] ?? 0 })),
        ),
    );
    this.gauge(
      'agent_service_job_oldest_due_seconds',
      'Time since the oldest job became due that has not begun; 0 for none.',
      { job_name: jobs },
      (count) => jobs.map((job) => ({ labels: { job_name: job }, value: count.get(job)?.oldestDue ?? 0 })),
    );
    this.gauge(
      'agent_service_outbox_lag_seconds',
      'Time since the oldest job became due that no queue has yet; 0 for none.',
      {},
      (count) => [
        { labels: {}, value: Math.max(0, ...[...count.values()].map(({ oldestUndispatched }) => oldestUndispatched)) },
      ],
    );
    this.metrics.gauge(
      {
        name: 'agent_service_jobs_up',
        help: 'Whether the jobs could be counted: 0 where the database is away.',
        labels: {},
      },
      async () => [{ labels: {}, value: (await this.read()) === null ? 0 : 1 }],
    );
  }

  private gauge<Label extends string>(
    name: `agent_service_${string}`,
    help: string,
    labels: LabelValues<Label>,
    of: (count: ReadonlyMap<string, JobDepth>) => readonly Reading<Label>[],
  ): void {
    this.metrics.gauge({ name, help, labels }, async () => {
      const count = await this.read();
      return count === null ? [] : of(count);
    });
  }

  private read(): Promise<Count> {
    const { counted } = this;
    if (counted && this.clock.monotonic() - counted.at < COUNT_KEPT_MS) return Promise.resolve(counted.count);
    this.counting ??= this.count().finally(() => (this.counting = undefined));
    const bound = {
      clock: this.clock,
      ms: COUNT_TIMEOUT_MS,
      signal: NEVER,
      late: () => new Error('The database is slow'),
    };
    const { counting } = this;
    return withinTime(bound, () => counting).catch(() => null);
  }

  private async count(): Promise<Count> {
    const count = await this.store.depths().then(byName, () => null);
    this.counted = { at: this.clock.monotonic(), count };
    return count;
  }
}

function byName(depths: readonly JobDepth[]): ReadonlyMap<string, JobDepth> {
  return new Map(depths.map((depth) => [depth.name, depth]));
}
