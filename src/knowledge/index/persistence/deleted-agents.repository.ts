import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../../agents/index.js';
import { Database } from '../../../platform/database/index.js';
import { FIND_AGENT, FIND_DELETED_AGENTS } from './agents.sql.js';
import { StoredPartition, StoredVocabulary } from './knowledge.schema.js';
import { REMOVE_TERMS } from './postings.sql.js';

/** What the index still holds of deleted agents, of all organizations. */
@Injectable()
export class DeletedAgentsRepository {
  constructor(private readonly database: Database) {}

  /** Deleted agents that still have documents or terms. */
  withDocuments(): Promise<DeletedAgent[]> {
    return FIND_DELETED_AGENTS.run(this.database, {});
  }

  async isDeleted({ organizationId, agentId }: DeletedAgent): Promise<boolean> {
    return (await FIND_AGENT.run(this.database, { organizationId, agentId })).length === 0;
  }

  /**
   * Removes at most `limit` terms of an agent without documents.
   * @returns whether there were any
   */
  async removeTerms({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    return (await REMOVE_TERMS.run(this.database, { organizationId, agentId, limit })).length > 0;
  }

  /** Call it once all terms are removed: a partition's postings are found through its row. */
  async removePartitions({ organizationId, agentId }: DeletedAgent): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredPartition, { organizationId, agentId }));
    await this.database.write((em) => em.nativeDelete(StoredVocabulary, { organizationId, agentId }));
  }
}
