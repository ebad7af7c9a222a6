import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { type ActiveJob, defineJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { ParseUpload } from '../application/parse-upload.js';
import { PARSE_ATTEMPTS, PARSE_BACKOFF_SECONDS, PARSED_AT_ONCE, TURNS_OF_ORGANIZATION } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

const payload = z.object({ organizationId: z.uuid(), agentId: z.uuid(), fileId: z.uuid() });
type Payload = z.output<typeof payload>;

/** Of a file whose turn it is; its end gives the turn to the next one. */
export const parseUpload = defineJob({
  name: 'knowledge.parse-upload',
  payload,
  retry: { attempts: PARSE_ATTEMPTS, backoffSeconds: PARSE_BACKOFF_SECONDS },
});

/**
 * Gives files their jobs, few of each organization at a time. The queue is first come first served, so that a file waits
 * for a few of every other organization, however many those have uploaded.
 */
@Injectable()
export class TakeUploadTurns {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Does nothing where no turn is free, or no file waits. */
  async execute(transaction: Transaction, organizationId: string): Promise<void> {
    for (const { agentId, fileId } of await this.uploads.takeTurns(transaction, organizationId, TURNS_OF_ORGANIZATION, this.clock.now())) {
      await this.outbox.enqueue(transaction, parseUpload, { organizationId, agentId, fileId }, { dedupeKey: fileId });
    }
  }
}

@Processor(parseUpload.name, { concurrency: PARSED_AT_ONCE })
export class ParseUploadProcessor extends WorkerHost {
  constructor(
    private readonly parse: ParseUpload,
    private readonly uploads: UploadRepository,
    private readonly turns: TakeUploadTurns,
    private readonly database: Database,
  ) {
    super();
  }

  async process({ data, attemptsMade, signal }: ActiveJob<Payload>): Promise<void> {
    try {
      await this.parse.execute({ ...data, isLast: attemptsMade + 1 >= PARSE_ATTEMPTS }, signal);
    } finally {
      // A process that stops has not parsed it: it is still the file's turn.
      if (!signal.aborted) await this.passTurnOn(data);
    }
  }

  /** The file was parsed, or is tried again later, which delays no other one. */
  private passTurnOn({ organizationId, fileId }: Payload): Promise<void> {
    return this.database.transaction(async (transaction) => {
      await this.uploads.endTurn(transaction, organizationId, fileId);
      await this.turns.execute(transaction, organizationId);
    });
  }
}
