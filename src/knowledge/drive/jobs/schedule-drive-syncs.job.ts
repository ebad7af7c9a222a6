import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { type ActiveJob, defineJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { REMOVE_SIGN_INS_EVERY_MINUTES } from '../../../platform/oauth/index.js';
import { DriveSignIns } from '../application/sign-in/drive-sign-ins.js';
import { OVERDUE_MS, SCHEDULE_BATCH, SCHEDULE_EVERY_MINUTES, STEP_LEASE_MS } from '../limits.js';
import { removeDriveSource, syncDrive } from '../application/sync/sync-drive.definition.js';
import { DriveSourceRepository } from '../persistence/drive-source.repository.js';
import { DriveSyncRepository } from '../persistence/drive-sync.repository.js';

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
    private readonly syncs: DriveSyncRepository,
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
      const overdue = await this.syncs.overdue(transaction, before, new Date(now.getTime() + STEP_LEASE_MS), SCHEDULE_BATCH);
      for (const { organizationId, id } of [...overdue, ...(await this.syncs.begin(transaction, now, SCHEDULE_BATCH))]) {
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

/** Removes sign-ins that were not completed in time, with their secrets. */
export const removeDriveSignIns = defineJob({
  name: 'knowledge.remove-drive-sign-ins',
  payload,
  schedule: { everyMinutes: REMOVE_SIGN_INS_EVERY_MINUTES, payload: {} },
});

@Processor(removeDriveSignIns.name)
export class RemoveDriveSignIns extends WorkerHost {
  constructor(private readonly signIns: DriveSignIns) {
    super();
  }

  process({ signal }: ActiveJob<Payload>): Promise<void> {
    return this.signIns.removeExpired(signal);
  }
}
