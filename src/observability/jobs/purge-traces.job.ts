import { z } from 'zod';
import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { PURGE_BATCH, PURGE_EVERY_MINUTES, RETENTION_MS } from '../limits.js';
import { KeptCountsRepository } from '../persistence/kept-counts.repository.js';
import { TraceRepository } from '../persistence/trace.repository.js';

const DAY_MS = 24 * 3_600_000;

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Deletes what is past the retention. What one run leaves, because it was stopped, the next one takes. */
export const purgeTraces = defineJob({
  name: 'traces.purge',
  payload,
  schedule: { everyMinutes: PURGE_EVERY_MINUTES, payload: {} },
});

@Processor(purgeTraces.name)
export class PurgeTraces extends WorkerHost {
  constructor(
    private readonly traces: TraceRepository,
    private readonly counts: KeptCountsRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** Ends: the cutoff stands still, so nothing becomes due while it runs. */
  async process({ signal }: ActiveJob<Payload>): Promise<void> {
    const cutoff = new Date(this.clock.now().getTime() - RETENTION_MS);
    let purged = 0;
    let batch: number;
    do {
      signal.throwIfAborted();
      batch = await this.traces.deleteBefore(cutoff, PURGE_BATCH);
      purged += batch;
    } while (batch > 0);
    // A day is counted as long as a trace of it may be there.
    const lastDay = new Date(cutoff.getTime() - DAY_MS);
    do signal.throwIfAborted();
    while (await this.counts.removeSomeBefore(lastDay, PURGE_BATCH));
    await this.counts.mergeCounts();
    if (purged > 0) this.logger.info({ traces: purged }, 'Purged traces past their retention');
  }
}
