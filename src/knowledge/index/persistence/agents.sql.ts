/** SQL because the table `agents` belongs to another context, so it has no entity here. */
import { statement } from '../../../platform/database/index.js';

const AGENT = { organizationId: 'uuid', agentId: 'uuid' } as const;

const findAgent = (lock: string) =>
  statement(
    AGENT,
    (p) => `select 1 from agents where organization_id = ${p.organizationId} and id = ${p.agentId} ${lock}`,
  );

export const FIND_AGENT = findAgent('');

/** The agent's deletion waits until the transaction ends. */
export const FIND_AGENT_FOR_KEY_SHARE = findAgent('for key share');

/** The same; and of several transactions that find the agent so, one continues at a time. */
export const FIND_AGENT_FOR_UPDATE = findAgent('for no key update');

/** Deleted agents of all organizations that have left documents or terms in the index. */
export const FIND_DELETED_AGENTS = statement({}, () =>
  ['knowledge_documents', 'knowledge_partitions', 'knowledge_vocabularies']
    .map(
      (table) => `select organization_id::text as "organizationId", agent_id::text as "agentId" from ${table}
        where not exists (select 1 from agents where agents.id = ${table}.agent_id)`,
    )
    .join(' union '),
);
