import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { FileStore } from '../../../platform/files/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { UploadNotFound } from '../domain/upload.errors.js';
import { uploadKey } from '../domain/upload.js';
import { removeUpload } from '../jobs/upload.jobs.js';
import { REMOVE_BATCH, UNFINISHED_MS } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/** Removes uploads in any state, and those of deleted agents. The row is deleted last, because the content is found through it. */
@Injectable()
export class RemoveUpload implements AgentDataHolder {
  readonly tables = [{ name: 'knowledge_uploads' }];

  constructor(
    private readonly database: Database,
    private readonly uploads: UploadRepository,
    private readonly index: DocumentIndex,
    private readonly store: FileStore,
    private readonly outbox: Outbox,
    agentData: AgentDataHolders,
    private readonly clock: Clock,
  ) {
    agentData.register(this);
  }

  /**
   * Once this resolves, no search finds the file, and a job that is parsing it cannot restore it. A job deletes its content.
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

  /** Removes the document, content and row of a hidden upload. @throws FileStoreUnavailable; the reason of `signal` if it aborts */
  async finish(organizationId: string, id: string, signal: AbortSignal): Promise<void> {
    await this.index.remove(organizationId, [id], signal);
    await this.store.remove(uploadKey({ organizationId, id }));
    await this.uploads.delete(organizationId, id);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    if (!(await this.uploads.softDeleteAll(agent, new Date(now.getTime() - UNFINISHED_MS), now))) return;
    let batch;
    do {
      batch = await this.uploads.listRemoving(agent, REMOVE_BATCH);
      for (const upload of batch) {
        signal.throwIfAborted();
        await this.finish(upload.organizationId, upload.id, signal);
      }
    } while (batch.length === REMOVE_BATCH);
  }
}
