/** SQL because the ORM has no recursive scan of an index. */
import { type Statement, statement } from '../../platform/database/index.js';
import type { AgentTable } from '../application/agent-data-holders.js';

/**
 * The deleted agents of all organizations that have rows in the table. Walks the index from agent to agent, so its cost does not
 * grow with the rows of each. A row is a `DeletedAgent`.
 */
export function deletedAgentsIn({ name, where = 'true' }: AgentTable): Statement<Record<string, never>> {
  const first = (condition: string): string =>
    `select agent_id, organization_id from ${name} where ${where} and ${condition} order by agent_id limit 1`;
  return statement(
    {},
    () => `
  with recursive holders as (
    (${first('true')})
    union all
    select following.agent_id, following.organization_id
    from holders cross join lateral (${first(`${name}.agent_id > holders.agent_id`)}) following
  )
  select organization_id::text as "organizationId", agent_id::text as "agentId" from holders
  where not exists (select 1 from agents where agents.id = holders.agent_id)`,
  );
}
