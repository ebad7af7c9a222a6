import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { SOURCE_KINDS, type SourceKind } from '../../index/domain/source-kind.js';
import { REMOVE_BATCH, TERMS_BATCH, UNFINISHED_MS } from '../limits.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { LeftBehindKnowledge } from '../persistence/left-behind-knowledge.repository.js';
import { DiscardUpload } from './discard-upload.js';

/** Removes documents of every source, and uploaded files, of agents that are gone. */
@Injectable()
export class RemoveLeftBehindKnowledge implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly leftovers: LeftBehindKnowledge,
    private readonly index: DocumentIndex,
    private readonly discardUpload: DiscardUpload,
    private readonly agentData: AgentDataHolders,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.leftovers.agents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    if (!(await this.leftovers.isGone(agent))) return;
    const now = this.clock.now();
    // First, so that no job is parsing what is removed here.
    await this.leftovers.softDelete(agent, new Date(now.getTime() - UNFINISHED_MS), now);
    // Before the files: a file store that is away does not hold up the rest.
    for (const kind of SOURCE_KINDS) await this.removeDocuments(agent, kind, signal);
    await this.removeTerms(agent, signal);
    await this.removeUploads(agent, signal);
  }

  /** Words may be left of texts that were removed long before. */
  private async removeTerms(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.leftovers.removeTerms(agent, TERMS_BATCH));
    await this.leftovers.removePartitions(agent);
  }

  private async removeUploads(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    let batch;
    do {
      batch = await this.leftovers.removedOf(agent, REMOVE_BATCH);
      for (const upload of batch) {
        signal.throwIfAborted();
        await this.discardUpload.everythingOf(upload, signal);
      }
    } while (batch.length === REMOVE_BATCH);
  }

  private async removeDocuments({ organizationId, agentId }: DeletedAgent, kind: SourceKind, signal: AbortSignal): Promise<void> {
    let batch;
    do {
      signal.throwIfAborted();
      batch = await this.index.documentsOf(organizationId, agentId, kind, REMOVE_BATCH);
      await this.index.remove(organizationId, batch, signal);
    } while (batch.length === REMOVE_BATCH);
  }
}
