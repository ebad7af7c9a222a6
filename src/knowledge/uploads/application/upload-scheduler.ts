import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { parseUpload } from '../jobs/upload.jobs.js';
import { SLOTS_OF_ORGANIZATION } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/**
 * Enqueues parse jobs for a few files of each organization at a time. The queue is first in, first out, so a file waits only for
 * a few files of each other organization, however many those have uploaded.
 */
@Injectable()
export class UploadScheduler {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** Enqueues the jobs of the organization's next files, if it has free slots. */
  async enqueueNext(transaction: Transaction, organizationId: string): Promise<void> {
    const now = this.clock.now();
    const next = await this.uploads.takeSlots(transaction, organizationId, SLOTS_OF_ORGANIZATION, now);
    for (const { agentId, fileId } of next)
      await this.outbox.enqueue(transaction, parseUpload, { organizationId, agentId, fileId }, { dedupeKey: fileId });
  }

  /** Call it after each attempt: a file that is tried again later keeps no slot, so that it does not delay other files. */
  release(organizationId: string, fileId: string): Promise<void> {
    return this.database.transaction(async (transaction) => {
      await this.uploads.releaseSlot(transaction, organizationId, fileId);
      await this.enqueueNext(transaction, organizationId);
    });
  }
}
