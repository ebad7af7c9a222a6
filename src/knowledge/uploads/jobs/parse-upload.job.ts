import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { ParseUpload } from '../application/parse-upload.js';
import { TakeUploadTurns } from '../application/take-upload-turns.js';
import { PARSE_ATTEMPTS, PARSED_AT_ONCE } from '../limits.js';
import { parseUpload, type ParseUploadPayload } from './parse-upload.definition.js';

@Processor(parseUpload.name, { concurrency: PARSED_AT_ONCE })
export class ParseUploadProcessor extends WorkerHost {
  constructor(
    private readonly parse: ParseUpload,
    private readonly turns: TakeUploadTurns,
  ) {
    super();
  }

  async process({ data, attemptsMade, signal }: ActiveJob<ParseUploadPayload>): Promise<void> {
    try {
      await this.parse.execute({ ...data, isLast: attemptsMade + 1 >= PARSE_ATTEMPTS }, signal);
    } finally {
      // A process that stops has not parsed it: it is still the file's turn.
      if (!signal.aborted) await this.turns.passOn(data.organizationId, data.fileId);
    }
  }
}
