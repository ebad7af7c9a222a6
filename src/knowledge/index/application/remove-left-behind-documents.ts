import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { REMOVE_BATCH, TERMS_BATCH } from '../limits.js';
import { DocumentRepository } from '../persistence/document.repository.js';
import { LeftBehindDocuments } from '../persistence/left-behind-documents.repository.js';
import { DocumentIndex } from './indexing/document-index.js';

/** Removes the documents of every source, and their terms, of deleted agents. */
@Injectable()
export class RemoveLeftBehindDocuments implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly leftovers: LeftBehindDocuments,
    private readonly documents: DocumentRepository,
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
    for (let left = true; left;) {
      signal.throwIfAborted();
      const batch = await this.documents.idsOf(agent.organizationId, agent.agentId, REMOVE_BATCH);
      await this.index.remove(agent.organizationId, batch, signal);
      left = batch.length === REMOVE_BATCH;
    }
    // Of texts that were removed long before, too.
    do signal.throwIfAborted();
    while (await this.leftovers.removeTerms(agent, TERMS_BATCH));
    await this.leftovers.removePartitions(agent);
  }
}
