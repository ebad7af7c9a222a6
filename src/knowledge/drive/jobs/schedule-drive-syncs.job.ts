import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { type ActiveJob, defineJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { OVERDUE_MS, SCHEDULE_BATCH, SCHEDULE_EVERY_MINUTES, STEP_LEASE_MS } from '../limits.js';
import { DriveSourceRepository } from '../persistence/drive-source.repository.js';
import { removeDriveSource } from './remove-drive-source.job.js';
import { syncDrive } from './sync-drive.job.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Begins the syncs that are due, and takes up those whose step has ended with its process. */
export const scheduleDriveSyncs = defineJob({
  name: 'knowledge.schedule-drive-syncs',
  payload,
  schedule: { everyMinutes: SCHEDULE_EVERY_MINUTES, payload: {} },
});

@Processor(scheduleDriveSyncs.name)
export class ScheduleDriveSyncs extends WorkerHost {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process(_job: ActiveJob<Payload>): Promise<void> {
    const now = this.clock.now();
    await this.database.transaction(async (transaction) => {
      const before = new Date(now.getTime() - OVERDUE_MS);
      const overdue = await this.sources.takeOverdue(transaction, before, new Date(now.getTime() + STEP_LEASE_MS), SCHEDULE_BATCH);
      for (const { organizationId, id } of [...overdue, ...(await this.sources.beginDue(transaction, now, SCHEDULE_BATCH))]) {
        await this.outbox.enqueue(transaction, syncDrive, { organizationId, sourceId: id }, { dedupeKey: id });
      }
    });
    const removed = await this.sources.removed(SCHEDULE_BATCH);
    if (removed.length === 0) return;
    await this.database.transaction(async (transaction) => {
      for (const { organizationId, id } of removed) {
        await this.outbox.enqueue(transaction, removeDriveSource, { organizationId, sourceId: id }, { dedupeKey: id });
      }
    });
  }
}
