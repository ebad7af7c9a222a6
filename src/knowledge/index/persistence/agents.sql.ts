/** SQL because the table `agents` belongs to another context, so it has no entity here. */
import { statement } from '../../../platform/database/index.js';

export const FIND_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `select 1 from agents where organization_id = ${p.organizationId} and id = ${p.agentId}`,
);

/** Deleted agents of all organizations that have left documents or terms in the index. */
export const FIND_DELETED_AGENTS = statement({}, () =>
  ['knowledge_documents', 'knowledge_partitions', 'knowledge_vocabularies']
    .map(
      (table) => `select organization_id::text as "organizationId", agent_id::text as "agentId" from ${table}
        where not exists (select 1 from agents where agents.id = ${table}.agent_id)`,
    )
    .join(' union '),
);
