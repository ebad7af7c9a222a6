import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { TURNS_OF_ORGANIZATION } from '../limits.js';
import { parseUpload } from '../jobs/parse-upload.definition.js';
import { UploadTurnRepository } from '../persistence/upload-turn.repository.js';

/**
 * Gives files their jobs, few of each organization at a time. The queue is first come first served, so that a file waits
 * for a few of every other organization, however many those have uploaded.
 */
@Injectable()
export class TakeUploadTurns {
  constructor(
    private readonly turns: UploadTurnRepository,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Does nothing where no turn is free, or no file waits. */
  async execute(transaction: Transaction, organizationId: string): Promise<void> {
    for (const { agentId, fileId } of await this.turns.takeNext(transaction, organizationId, TURNS_OF_ORGANIZATION, this.clock.now())) {
      await this.outbox.enqueue(transaction, parseUpload, { organizationId, agentId, fileId }, { dedupeKey: fileId });
    }
  }

  /** A file was parsed, or has to be tried again later, which makes no other one wait. */
  passOn(organizationId: string, fileId: string): Promise<void> {
    return this.database.transaction(async (transaction) => {
      await this.turns.end(transaction, organizationId, fileId);
      await this.execute(transaction, organizationId);
    });
  }
}
