import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../../agents/index.js';
import { Database } from '../../../platform/database/index.js';

/** What deleted agents, of all organizations, have left in the index. */
@Injectable()
export class LeftBehindDocuments {
  constructor(private readonly database: Database) {}

  /** Deleted agents of which documents or terms are left. */
  agents(): Promise<DeletedAgent[]> {
    return this.database.query<DeletedAgent>(
      `select organization_id::text as "organizationId", agent_id::text as "agentId"
         from (select organization_id, agent_id from knowledge_documents
               union select organization_id, agent_id from knowledge_partitions
               union select organization_id, agent_id from knowledge_vocabularies) left_behind
        where not exists (select 1 from agents where agents.id = left_behind.agent_id)`,
    );
  }

  async isGone({ organizationId, agentId }: DeletedAgent): Promise<boolean> {
    const rows = await this.database.query('select 1 from agents where organization_id = $1::uuid and id = $2::uuid', [organizationId, agentId]);
    return rows.length === 0;
  }

  /**
   * The terms of an agent of which no document is left, some of them at a time.
   * @returns whether there were any
   */
  async removeTerms({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const removed = await this.database.query(
      `delete from knowledge_postings where (partition, block, term) in (
         select t.partition, t.block, t.term from knowledge_postings t join knowledge_partitions p on p.id = t.partition
          where p.organization_id = $1::uuid and p.agent_id = $2::uuid limit $3::integer)
       returning 1 as one`,
      [organizationId, agentId, limit],
    );
    return removed.length > 0;
  }

  /** What is left of the index once its terms are removed. */
  async removePartitions({ organizationId, agentId }: DeletedAgent): Promise<void> {
    for (const table of ['knowledge_partitions', 'knowledge_vocabularies']) {
      await this.database.query(
        `delete from ${table} left_behind where organization_id = $1::uuid and agent_id = $2::uuid
            and not exists (select 1 from knowledge_documents d where d.agent_id = left_behind.agent_id)`,
        [organizationId, agentId],
      );
    }
  }
}
