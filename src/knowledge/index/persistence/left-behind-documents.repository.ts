import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import type { DeletedAgent } from '../../../agents/index.js';
import { type ColumnsOf, Database, queryBuilder, rowsOf } from '../../../platform/database/index.js';
import { StoredDocument, StoredPartition, StoredVocabulary } from './knowledge.schema.js';
import { REMOVE_TERMS } from './postings.sql.js';

interface Tables {
  knowledge_documents: ColumnsOf<typeof StoredDocument>;
  knowledge_partitions: ColumnsOf<typeof StoredPartition>;
  knowledge_vocabularies: ColumnsOf<typeof StoredVocabulary>;
}

const tables = queryBuilder<Tables>();

/** What deleted agents, of all organizations, have left in the index. */
@Injectable()
export class LeftBehindDocuments {
  constructor(private readonly database: Database) {}

  /** Deleted agents of which documents or terms are left. */
  agents(): Promise<DeletedAgent[]> {
    const columns = ['organization_id as organizationId', 'agent_id as agentId'] as const;
    const isDeleted = (table: keyof Tables) =>
      sql<boolean>`not exists (select 1 from agents where agents.id = ${sql.ref(`${table}.agent_id`)})`;
    const documents = tables.selectFrom('knowledge_documents').select(columns).where(isDeleted('knowledge_documents'));
    const partitions = tables
      .selectFrom('knowledge_partitions')
      .select(columns)
      .where(isDeleted('knowledge_partitions'));
    const vocabularies = tables
      .selectFrom('knowledge_vocabularies')
      .select(columns)
      .where(isDeleted('knowledge_vocabularies'));
    return rowsOf(this.database, documents.union(partitions).union(vocabularies));
  }

  /** The table is another context's, so it has no entity here. */
  async isGone({ organizationId, agentId }: DeletedAgent): Promise<boolean> {
    const rows = await this.database.query('select 1 from agents where organization_id = $1::uuid and id = $2::uuid', [
      organizationId,
      agentId,
    ]);
    return rows.length === 0;
  }

  /**
   * The terms of an agent of which no document is left, some of them at a time.
   * @returns whether there were any
   */
  async removeTerms({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    return (await REMOVE_TERMS.run(this.database, { organizationId, agentId, limit })).length > 0;
  }

  /** What is left of the index once its terms are removed. */
  async removePartitions({ organizationId, agentId }: DeletedAgent): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredPartition, { organizationId, agentId }));
    await this.database.write((em) => em.nativeDelete(StoredVocabulary, { organizationId, agentId }));
  }
}
