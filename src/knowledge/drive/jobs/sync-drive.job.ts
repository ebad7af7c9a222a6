import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { RemoveDriveSources } from '../application/remove-drive-sources.js';
import { removeDriveSource, type SourcePayload, syncDrive } from '../application/sync/sync-drive.definition.js';
import { SyncDriveSource } from '../application/sync/sync-drive-source.js';

/** Steps wait for the drive more than they compute; each may hold one file of 50 MB. */
const AT_ONCE = 3;

@Processor(syncDrive.name, { concurrency: AT_ONCE })
export class SyncDrive extends WorkerHost {
  constructor(private readonly sync: SyncDriveSource) {
    super();
  }

  process({ data: { organizationId, sourceId }, signal }: ActiveJob<SourcePayload>): Promise<void> {
    return this.sync.step({ organizationId, id: sourceId }, signal);
  }
}

@Processor(removeDriveSource.name)
export class RemoveDriveSource extends WorkerHost {
  constructor(private readonly sources: RemoveDriveSources) {
    super();
  }

  process({ data: { organizationId, sourceId }, signal }: ActiveJob<SourcePayload>): Promise<void> {
    return this.sources.remove({ organizationId, id: sourceId }, signal);
  }
}
