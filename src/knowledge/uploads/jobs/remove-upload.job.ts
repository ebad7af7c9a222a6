import type { z } from 'zod';
import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { RemoveUpload } from '../application/remove-upload.js';
import { removeUpload } from './upload.jobs.js';

@Processor(removeUpload.name)
export class RemoveUploadProcessor extends WorkerHost {
  constructor(private readonly removal: RemoveUpload) {
    super();
  }

  process({
    data: { organizationId, fileId },
    signal,
  }: ActiveJob<z.output<typeof removeUpload.payload>>): Promise<void> {
    return this.removal.finish(organizationId, fileId, signal);
  }
}
