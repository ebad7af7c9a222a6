import { type JobOf, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { ParseUpload } from '../application/parse-upload.js';
import { RemoveUpload } from '../application/remove-upload.js';
import { UploadScheduler } from '../application/upload-scheduler.js';
import { PARSE_ATTEMPTS, PARSED_AT_ONCE } from '../limits.js';
import { parseUpload, removeUpload } from './upload.jobs.js';

@Processor(parseUpload.name, { concurrency: PARSED_AT_ONCE })
export class ParseUploadProcessor extends WorkerHost {
  constructor(
    private readonly parse: ParseUpload,
    private readonly scheduler: UploadScheduler,
  ) {
    super();
  }

  async process({ data, attemptsMade, signal }: JobOf<typeof parseUpload>): Promise<void> {
    try {
      await this.parse.execute({ ...data, isLast: attemptsMade + 1 >= PARSE_ATTEMPTS }, signal);
    } finally {
      // If the process stops and interrupts the parsing, the file keeps its slot.
      if (!signal.aborted) await this.scheduler.release(data.organizationId, data.fileId);
    }
  }
}

@Processor(removeUpload.name)
export class RemoveUploadProcessor extends WorkerHost {
  constructor(private readonly removal: RemoveUpload) {
    super();
  }

  process({ data, signal }: JobOf<typeof removeUpload>): Promise<void> {
    return this.removal.finish(data.organizationId, data.fileId, signal);
  }
}
