import { z } from 'zod';
import { type ActiveJob, defineJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { SyncDriveSource } from '../application/sync/sync-drive-source.js';

const payload = z.object({ organizationId: z.uuid(), sourceId: z.uuid() });
type Payload = z.output<typeof payload>;

/** One step of a source's sync; the end of each enqueues the next. */
export const syncDrive = defineJob({ name: 'knowledge.sync-drive', payload });

/** Steps wait for the drive more than they compute; each may hold one file of 50 MB. */
const AT_ONCE = 3;

@Processor(syncDrive.name, { concurrency: AT_ONCE })
export class SyncDrive extends WorkerHost {
  constructor(
    private readonly sync: SyncDriveSource,
    private readonly outbox: Outbox,
  ) {
    super();
  }

  process({ data: { organizationId, sourceId }, signal }: ActiveJob<Payload>): Promise<void> {
    return this.sync.step({ organizationId, id: sourceId }, signal, (transaction, { id }, delaySeconds) =>
      this.outbox.enqueue(transaction, syncDrive, { organizationId, sourceId: id }, { dedupeKey: id, delaySeconds }),
    );
  }
}
