import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { DiscardUpload } from '../application/discard-upload.js';

const payload = z.object({ organizationId: z.uuid(), fileId: z.uuid() });
type Payload = z.output<typeof payload>;

/** Removes the bytes of a deleted file, and what its deletion could not remove. */
export const removeUpload = defineJob({ name: 'knowledge.remove-upload', payload });

@Processor(removeUpload.name)
export class RemoveUploadProcessor extends WorkerHost {
  constructor(private readonly discardUpload: DiscardUpload) {
    super();
  }

  async process({ data: { organizationId, fileId }, signal }: ActiveJob<Payload>): Promise<void> {
    await this.discardUpload.execute(organizationId, fileId, signal);
  }
}
