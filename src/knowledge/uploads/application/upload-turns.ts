import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { parseUpload } from '../jobs/upload.jobs.js';
import { TURNS_OF_ORGANIZATION } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/**
 * Enqueues the jobs of files, for few files of an organization at a time. The queue is first in, first out: so a file waits
 * for a few files of each other organization, however many those have uploaded.
 */
@Injectable()
export class UploadTurns {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Enqueues the jobs of the next files, if turns are free. */
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

  /** Call it after each attempt: a file that is tried again later keeps no turn, so that it does not delay other files. */
  passOn(organizationId: string, fileId: string): Promise<void> {
    return this.database.transaction(async (transaction) => {
      await this.uploads.endTurn(transaction, organizationId, fileId);
      await this.give(transaction, organizationId);
    });
  }
}
