/** SQL because one statement inserts the terms of many chunks and updates the chunks. */
import { statement } from '../../../platform/database/index.js';
import type { DocumentScope } from '../domain/source-kind.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';
import { insertTerms, TERMS } from './postings.sql.js';

/** A visible chunk without postings: the former version of the service wrote it, before or during the upgrade. */
export interface UnplacedChunk {
  readonly id: string;
  readonly documentId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly scope: DocumentScope;
  readonly title: string;
  readonly heading: string | null;
  readonly text: string;
}

/** Reads chunks of all organizations, sorted by document. */
export const READ_UNPLACED = statement(
  { limit: 'integer' },
  (p) => `
  select c.id::text as id, d.id::text as "documentId", d.organization_id::text as "organizationId", d.agent_id::text as "agentId", d.scope, d.title, c.heading, c.text
    from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
   where c.number is null and ${VISIBLE_CHUNK} order by c.document_id, c.position limit ${p.limit}`,
);

/** Returns the chunks that were still visible and without postings. If any is missing, the transaction must not commit: its terms would be found without it. */
export const PLACE_CHUNKS = statement(
  { organizationId: 'uuid', rows: 'jsonb', ...TERMS },
  (p) => `
  with ${insertTerms(p)}
  update knowledge_chunks c set partition = ${p.partition}, number = t.number, length = t.length
    from jsonb_to_recordset(${p.rows}) as t(id uuid, number integer, length integer), knowledge_documents d
   where c.organization_id = ${p.organizationId} and c.id = t.id and c.number is null and d.id = c.document_id and ${VISIBLE_CHUNK} returning c.id`,
);
