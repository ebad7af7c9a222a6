import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { type JobOf, definePeriodicJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { SyncDriveSource } from '../application/sync/sync-drive-source.js';
import { OVERDUE_MS, SCHEDULE_BATCH, SCHEDULE_EVERY_MINUTES, STEP_LEASE_MS, STEPS_AT_ONCE } from '../limits.js';
import { DriveSourceRepository } from '../persistence/drive-source.repository.js';
import { removeDriveSource, syncDrive } from './drive.jobs.js';

@Processor(syncDrive.name, { concurrency: STEPS_AT_ONCE })
export class SyncDrive extends WorkerHost {
  constructor(private readonly sync: SyncDriveSource) {
    super();
  }

  process({ data: { organizationId, sourceId: id }, signal }: JobOf<typeof syncDrive>): Promise<void> {
    return this.sync.execute({ organizationId, id }, signal);
  }
}

/** Starts syncs that are due, and enqueues steps and removals whose process has died. */
export const scheduleDriveSyncs = definePeriodicJob('knowledge.schedule-drive-syncs', SCHEDULE_EVERY_MINUTES);

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

  async process(): Promise<void> {
    const now = this.clock.now();
    const [before, until] = [new Date(now.getTime() - OVERDUE_MS), new Date(now.getTime() + STEP_LEASE_MS)];
    const removed = await this.sources.removed(SCHEDULE_BATCH);
    await this.database.transaction(async (transaction) => {
      const overdue = await this.sources.takeOverdue(transaction, before, until, SCHEDULE_BATCH);
      const due = await this.sources.beginDue(transaction, now, SCHEDULE_BATCH);
      for (const { organizationId, id } of [...overdue, ...due]) {
        await this.outbox.enqueue(transaction, syncDrive, { organizationId, sourceId: id }, { dedupeKey: id });
      }
      for (const { organizationId, id } of removed) {
        await this.outbox.enqueue(transaction, removeDriveSource, { organizationId, sourceId: id }, { dedupeKey: id });
      }
    });
  }
}
