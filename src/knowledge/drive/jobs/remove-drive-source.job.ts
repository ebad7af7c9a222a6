import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { DiscardDriveSource } from '../application/discard-drive-source.js';

const payload = z.object({ organizationId: z.uuid(), sourceId: z.uuid() });
type Payload = z.output<typeof payload>;

/** Removes the documents of a source that is marked as removed, and then the source. */
export const removeDriveSource = defineJob({ name: 'knowledge.remove-drive-source', payload });

@Processor(removeDriveSource.name)
export class RemoveDriveSource extends WorkerHost {
  constructor(private readonly discard: DiscardDriveSource) {
    super();
  }

  process({ data: { organizationId, sourceId }, signal }: ActiveJob<Payload>): Promise<void> {
    return this.discard.execute({ organizationId, id: sourceId }, signal);
  }
}
