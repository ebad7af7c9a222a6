import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { REMOVE_BATCH, TERMS_BATCH } from '../limits.js';
import { DeletedAgentsRepository } from '../persistence/deleted-agents.repository.js';
import { DocumentRepository } from '../persistence/document.repository.js';
import { DocumentIndex } from './indexing/document-index.js';

/** Removes the documents and terms of deleted agents, whichever source they come from. */
@Injectable()
export class RemoveDocumentsOfDeletedAgents implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly deletedAgents: DeletedAgentsRepository,
    private readonly documents: DocumentRepository,
    private readonly index: DocumentIndex,
    private readonly agentData: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.deletedAgents.withDocuments();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    if (!(await this.deletedAgents.isDeleted(agent))) return;
    let batch: string[];
    do {
      signal.throwIfAborted();
      batch = await this.documents.listIds(agent.organizationId, agent.agentId, REMOVE_BATCH);
      await this.index.remove(agent.organizationId, batch, signal);
    } while (batch.length === REMOVE_BATCH);
    // Terms of documents that were deleted before may be left too, so they are removed even where no document was found.
    do signal.throwIfAborted();
    while (await this.deletedAgents.removeTerms(agent, TERMS_BATCH));
    await this.deletedAgents.removePartitions(agent);
  }
}
