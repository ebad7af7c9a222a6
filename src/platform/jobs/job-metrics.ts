import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { endsWithin } from '../lifecycle/index.js';
import { Metrics } from '../metrics/index.js';
import { JobRegistry } from './job-registry.js';
import { COUNT_KEPT_MS, COUNT_TIMEOUT_MS } from './limits.js';
import { type JobDepth, OutboxStore } from './outbox.sql.js';
import { WorkerPresence } from './worker-presence.js';

/** By job, and the processes that work on them. */
interface Counts {
  readonly depths: ReadonlyMap<string, JobDepth>;
  readonly workers: number;
}

/**
 * How many jobs there are, and how long they have waited. All processes report the same numbers, because they share the outbox.
 * A count is cached for a while, a failed one too, and concurrent requests share one query.
 */
@Injectable()
export class JobMetrics {
  private cached: { readonly at: number; readonly counts: Counts | null } | undefined;
  private counting: Promise<Counts | null> | undefined;

  constructor(
    private readonly registry: JobRegistry,
    private readonly store: OutboxStore,
    private readonly presence: WorkerPresence,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /** Called once the registry has all jobs, whose names are label values. */
  register(): void {
    const { metrics } = this;
    const names = this.registry.all().map(({ definition }) => definition.name);
    metrics.gauge(
      {
        name: 'agent_service_jobs',
        help: 'Jobs by state; one that waits for another attempt counts as running.',
        labels: { job_name: names, state: ['waiting', 'running', 'dead'] },
      },
      ({ job_name: name, state }) => this.read(({ depths }) => depths.get(name)?.[state] ?? 0),
    );
    metrics.gauge(
      {
        name: 'agent_service_job_oldest_due_seconds',
        help: 'Time since the oldest job became due that has not begun; 0 for none.',
        labels: { job_name: names },
      },
      ({ job_name: name }) => this.read(({ depths }) => depths.get(name)?.oldestDue ?? 0),
    );
    metrics.gauge(
      {
        name: 'agent_service_outbox_lag_seconds',
        help: 'Time since the oldest job became due that no queue has yet; 0 for none.',
        labels: {},
      },
      () => this.read(({ depths }) => Math.max(0, ...[...depths.values()].map((depth) => depth.oldestUndispatched))),
    );
    metrics.gauge(
      {
        name: 'agent_service_job_workers',
        help: 'Processes of the installation that work on jobs and have reported in the last 150 seconds.',
        labels: {},
      },
      () => this.read(({ workers }) => workers),
    );
    metrics.gauge(
      {
        name: 'agent_service_jobs_up',
        help: 'Whether the jobs could be counted: 0 if the database does not respond.',
        labels: {},
      },
      async () => (await this.read(() => 1)) ?? 0,
    );
  }

  private async read(value: (counts: Counts) => number): Promise<number | undefined> {
    const counts = await this.counts();
    return counts === null ? undefined : value(counts);
  }

  /** Null if the database did not return them. */
  private async counts(): Promise<Counts | null> {
    const { cached } = this;
    if (cached && this.clock.monotonic() - cached.at < COUNT_KEPT_MS) return cached.counts;
    this.counting ??= this.count().finally(() => (this.counting = undefined));
    const { counting } = this;
    return (await endsWithin(COUNT_TIMEOUT_MS, this.clock, counting)) ? counting : null;
  }

  private async count(): Promise<Counts | null> {
    const counts = await Promise.all([this.store.depths(), this.presence.count()]).then(
      ([rows, workers]) => ({ depths: new Map(rows.map((row) => [row.name, row])), workers }),
      () => null,
    );
    this.cached = { at: this.clock.monotonic(), counts };
    return counts;
  }
}
