import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { SOURCE_KINDS, type SourceKind } from '../domain/source-kind.js';
import { REMOVE_BATCH, TERMS_BATCH } from '../limits.js';
import { LeftBehindDocuments } from '../persistence/left-behind-documents.repository.js';
import { DocumentIndex } from './indexing/document-index.js';

/** Removes the documents of every source, and their terms, of deleted agents. */
@Injectable()
export class RemoveLeftBehindDocuments implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly leftovers: LeftBehindDocuments,
    private readonly index: DocumentIndex,
    private readonly agentData: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.leftovers.agents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    if (!(await this.leftovers.isGone(agent))) return;
    for (const kind of SOURCE_KINDS) await this.removeDocuments(agent, kind, signal);
    await this.removeTerms(agent, signal);
  }

  /** Terms may be left of texts that were removed long before. */
  private async removeTerms(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.leftovers.removeTerms(agent, TERMS_BATCH));
    await this.leftovers.removePartitions(agent);
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
