import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../../agents/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import type { Upload } from '../domain/upload.js';

/** What a job is told of an upload. */
export interface StaleUpload extends DeletedAgent {
  readonly id: string;
}

export interface StaleStates {
  readonly from: 'pending' | 'processing' | 'removing';
  readonly to: 'processing' | 'removing';
  readonly since: Date;
  readonly now: Date;
}

/** What agents that are gone, and processes that died, have left of the knowledge. Of all organizations. */
@Injectable()
export class LeftBehindKnowledge {
  constructor(private readonly database: Database) {}

  /** Agents that are gone and of which documents, uploads or words are left. */
  agents(): Promise<DeletedAgent[]> {
    return this.database.query<DeletedAgent>(
      `select organization_id::text as "organizationId", agent_id::text as "agentId"
         from (select organization_id, agent_id from knowledge_documents union select organization_id, agent_id from knowledge_uploads
               union select organization_id, agent_id from knowledge_vocabularies) left_behind
        where not exists (select 1 from agents where agents.id = left_behind.agent_id)`,
    );
  }

  async isGone({ organizationId, agentId }: DeletedAgent): Promise<boolean> {
    const rows = await this.database.query('select 1 from agents where organization_id = $1::uuid and id = $2::uuid', [organizationId, agentId]);
    return rows.length === 0;
  }

  /**
   * Takes away the uploads of an agent that is gone. One whose content is being stored is its request's to remove, unless
   * that gave up before `unfinishedSince`.
   */
  async softDelete({ organizationId, agentId }: DeletedAgent, unfinishedSince: Date, now: Date): Promise<void> {
    await this.database.query(
      `update knowledge_uploads left_behind set status = 'removing', changed_at = $4::timestamptz
        where organization_id = $1::uuid and agent_id = $2::uuid and status <> 'removing'
          and (status <> 'pending' or changed_at < $3::timestamptz)
          and not exists (select 1 from agents where agents.id = left_behind.agent_id)`,
      [organizationId, agentId, unfinishedSince.toISOString(), now.toISOString()],
    );
  }

  removedOf({ organizationId, agentId }: DeletedAgent, limit: number): Promise<Pick<Upload, 'id' | 'organizationId'>[]> {
    return this.database.query(
      `select id::text as id, organization_id::text as "organizationId" from knowledge_uploads left_behind
        where organization_id = $1::uuid and agent_id = $2::uuid and status = 'removing' order by id limit $3::integer`,
      [organizationId, agentId, limit],
    );
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

  /** Uploads that have been in a state for long, the longest first; they are in `to` then, and count as looked at. Those that wait for their turn are none. */
  takeStale(transaction: Transaction, { from, to, since, now }: StaleStates, limit: number): Promise<StaleUpload[]> {
    return transaction.query<StaleUpload>(
      `update knowledge_uploads set status = $2, changed_at = $4::timestamptz
        where id = any(array(select id from knowledge_uploads stale where status = $1 and changed_at < $3::timestamptz and (status <> 'processing' or turn <> 'waiting')
                      order by changed_at limit $5::integer for update skip locked))
        returning id::text as id, organization_id::text as "organizationId", agent_id::text as "agentId"`,
      [from, to, since.toISOString(), now.toISOString(), limit],
    );
  }
}
