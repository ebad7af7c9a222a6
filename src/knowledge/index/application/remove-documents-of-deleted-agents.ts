import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { Database } from '../../../platform/database/index.js';
import { REMOVE_BATCH, TERMS_BATCH } from '../limits.js';
import { FIND_AGENT } from '../persistence/agents.sql.js';
import { DocumentRepository } from '../persistence/document.repository.js';
import { StoredPartition, StoredVocabulary } from '../persistence/knowledge.schema.js';
import { REMOVE_TERMS } from '../persistence/postings.sql.js';
import { DocumentIndex } from './indexing/document-index.js';

/** Removes the documents and terms of deleted agents, whichever source they come from. */
@Injectable()
export class RemoveDocumentsOfDeletedAgents implements AgentDataHolder {
  readonly tables = [
    { name: 'knowledge_documents' },
    { name: 'knowledge_partitions' },
    { name: 'knowledge_vocabularies' },
  ];

  constructor(
    private readonly database: Database,
    private readonly documents: DocumentRepository,
    private readonly index: DocumentIndex,
    agentData: AgentDataHolders,
  ) {
    agentData.register(this);
  }

  async remove({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    const agent = { organizationId, agentId };
    if ((await FIND_AGENT.run(this.database, agent)).length > 0) return;
    let batch: string[];
    do {
      signal.throwIfAborted();
      batch = await this.documents.listIds(organizationId, agentId, REMOVE_BATCH);
      await this.index.remove(organizationId, batch, signal);
    } while (batch.length === REMOVE_BATCH);
    // Terms of documents that were removed before may be left, so they are removed even if there was no document.
    do signal.throwIfAborted();
    while ((await REMOVE_TERMS.run(this.database, { ...agent, limit: TERMS_BATCH })).length > 0);
    // Only now, because `REMOVE_TERMS` finds the postings of a partition through its row.
    await this.database.write((em) => em.nativeDelete(StoredPartition, agent));
    await this.database.write((em) => em.nativeDelete(StoredVocabulary, agent));
  }
}
