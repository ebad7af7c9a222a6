import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { FileStore } from '../../../platform/files/index.js';
import { type Upload, uploadKey } from '../domain/upload.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { REMOVE_BATCH, UNFINISHED_MS } from '../limits.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/** Removes what is left of files that no reader sees any more, and of those of deleted agents: the row that leads to the content goes last. */
@Injectable()
export class DiscardUpload implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly index: DocumentIndex,
    private readonly store: FileStore,
    private readonly agentData: AgentDataHolders,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  /** @throws FileStoreUnavailable; the reason of `signal` when it aborts */
  async execute(organizationId: string, id: string, signal: AbortSignal): Promise<void> {
    const removed = await this.uploads.findRemoved(organizationId, id);
    if (removed) await this.discard(removed, signal);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.uploads.ofDeletedAgents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    if (!(await this.uploads.softDeleteAll(agent, new Date(now.getTime() - UNFINISHED_MS), now))) return;
    let batch;
    do {
      batch = await this.uploads.removedOf(agent, REMOVE_BATCH);
      for (const upload of batch) {
        signal.throwIfAborted();
        await this.discard(upload, signal);
      }
    } while (batch.length === REMOVE_BATCH);
  }

  private async discard(upload: Pick<Upload, 'id' | 'organizationId'>, signal: AbortSignal): Promise<void> {
    await this.index.remove(upload.organizationId, [upload.id], signal);
    await this.store.remove(uploadKey(upload));
    await this.uploads.delete(upload.organizationId, upload.id);
  }
}
