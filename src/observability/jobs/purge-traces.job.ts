import { OrganizationDirectory, retainedSince } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { PURGE_BATCH, PURGE_EVERY_MINUTES, RETENTION_MS } from '../limits.js';
import { TraceCountsRepository } from '../persistence/trace-counts.repository.js';
import { TraceRepository } from '../persistence/trace.repository.js';

const DAY_MS = 24 * 3_600_000;

/** Deletes traces and counts past their retention. The next run deletes what an interrupted one has left. */
export const purgeTraces = definePeriodicJob('traces.purge', PURGE_EVERY_MINUTES);

@Processor(purgeTraces.name)
export class PurgeTraces extends WorkerHost {
  constructor(
    private readonly traces: TraceRepository,
    private readonly counts: TraceCountsRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** Terminates, because the cutoffs are fixed at its start. */
  async process({ signal }: ActiveJob): Promise<void> {
    const now = this.clock.now();
    const cutoff = new Date(now.getTime() - RETENTION_MS);
    let purged = await deleteAll(() => this.traces.deleteBefore(cutoff, PURGE_BATCH), signal);
    for (const retention of await this.organizations.retentions()) {
      const since = retainedSince(retention, now);
      const deleteSome = () => this.traces.deleteOfOrganization(retention.organizationId, since, PURGE_BATCH);
      purged += await deleteAll(deleteSome, signal);
    }
    // The counts of a day are needed as long as it may have a trace.
    const lastDay = new Date(cutoff.getTime() - DAY_MS);
    do signal.throwIfAborted();
    while (await this.counts.deleteSomeBefore(lastDay, PURGE_BATCH));
    await this.counts.merge();
    if (purged > 0) this.logger.info({ traces: purged }, 'Purged traces past their retention');
  }
}

/** @returns how many */
async function deleteAll(deleteSome: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  let batch: number;
  do {
    signal.throwIfAborted();
    batch = await deleteSome();
    deleted += batch;
  } while (batch > 0);
  return deleted;
}
