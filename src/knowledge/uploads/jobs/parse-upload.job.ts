import type { z } from 'zod';
import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { ParseUpload } from '../application/parse-upload.js';
import { UploadTurns } from '../application/upload-turns.js';
import { PARSE_ATTEMPTS, PARSED_AT_ONCE } from '../limits.js';
import { parseUpload } from './upload.jobs.js';

@Processor(parseUpload.name, { concurrency: PARSED_AT_ONCE })
export class ParseUploadProcessor extends WorkerHost {
  constructor(
    private readonly parse: ParseUpload,
    private readonly turns: UploadTurns,
  ) {
    super();
  }

  async process({ data, attemptsMade, signal }: ActiveJob<z.output<typeof parseUpload.payload>>): Promise<void> {
    try {
      await this.parse.execute({ ...data, isLast: attemptsMade + 1 >= PARSE_ATTEMPTS }, signal);
    } finally {
      // A process that stops has interrupted the parsing: the file keeps its turn.
      if (!signal.aborted) await this.turns.passOn(data.organizationId, data.fileId);
    }
  }
}
