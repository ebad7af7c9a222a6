import { type ActiveJob, type JobOf, definePeriodicJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { REMOVE_SIGN_INS_EVERY_MINUTES } from '../../../platform/oauth/index.js';
import { DiscardDriveSource } from '../application/discard-drive-source.js';
import { DriveSignIns } from '../application/sign-in/drive-grants.js';
import { removeDriveSource } from './drive.jobs.js';

@Processor(removeDriveSource.name)
export class RemoveDriveSource extends WorkerHost {
  constructor(private readonly discard: DiscardDriveSource) {
    super();
  }

  process({ data: { organizationId, sourceId: id }, signal }: JobOf<typeof removeDriveSource>): Promise<void> {
    return this.discard.execute({ organizationId, id }, signal);
  }
}

/** Deletes sign-ins that were not completed in time, with their secrets. */
export const removeDriveSignIns = definePeriodicJob('knowledge.remove-drive-sign-ins', REMOVE_SIGN_INS_EVERY_MINUTES);

@Processor(removeDriveSignIns.name)
export class RemoveDriveSignIns extends WorkerHost {
  constructor(private readonly signIns: DriveSignIns) {
    super();
  }

  process({ signal }: ActiveJob): Promise<void> {
    return this.signIns.removeExpired(signal);
  }
}
