import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { parseUpload } from '../jobs/upload.jobs.js';
import { TURNS_OF_ORGANIZATION } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/**
 * Gives files their jobs, few of each organization at a time. The queue is first come first served, so that a file waits
 * for a few of every other organization, however many those have uploaded.
 */
@Injectable()
export class UploadTurns {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Does nothing where no turn is free, or no file waits. */
  async give(transaction: Transaction, organizationId: string): Promise<void> {
    for (const { agentId, fileId } of await this.uploads.takeTurns(
      transaction,
      organizationId,
      TURNS_OF_ORGANIZATION,
      this.clock.now(),
    )) {
      await this.outbox.enqueue(transaction, parseUpload, { organizationId, agentId, fileId }, { dedupeKey: fileId });
    }
  }

  /** The file was parsed, or is tried again later, which delays no other one. */
  passOn(organizationId: string, fileId: string): Promise<void> {
    return this.database.transaction(async (transaction) => {
      await this.uploads.endTurn(transaction, organizationId, fileId);
      await this.give(transaction, organizationId);
    });
  }
}
