import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { UploadNotFound } from '../domain/upload.errors.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { removeUpload } from '../jobs/remove-upload.job.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/** Takes a file from an agent, whatever state it is in. */
@Injectable()
export class RemoveUpload {
  constructor(
    private readonly database: Database,
    private readonly uploads: UploadRepository,
    private readonly index: DocumentIndex,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Once this resolves no search finds the file, and no job that is parsing it brings it back; its bytes go soon after.
   * @throws UploadNotFound
   */
  async execute(organizationId: string, agentId: string, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const removed = await this.uploads.softDelete(transaction, organizationId, agentId, id, this.clock.now());
      if (!removed) throw new UploadNotFound();
      await this.outbox.enqueue(transaction, removeUpload, { organizationId, fileId: id }, { dedupeKey: id });
    });
    await this.index.remove(organizationId, [id]);
  }
}
