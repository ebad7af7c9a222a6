/**
 * Hot path: every run of an agent with memory whose caller names a user reads the most useful memories with this statement.
 * Written by hand because it is one round trip through one index, with a plan made once.
 */
import { statement } from '../../platform/database/index.js';

const OWNER = { organizationId: 'uuid', agentId: 'uuid', userKey: 'uuid' } as const;

/** No row where there is none; `total` counts those beyond the limit too. */
export const RECALL = statement(
  { ...OWNER, limit: 'integer', characters: 'integer' },
  (p) => `
  with owned as (
    select id, left(text, ${p.characters}) as text, created_at, updated_at, usefulness from memories
    where agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}
  ), total as (
    select count(*)::int as total from memories
    where agent_id = ${p.agentId} and user_key = ${p.userKey} and organization_id = ${p.organizationId}
  )
  select id::text as id, text, created_at, updated_at, total from owned, total
  order by usefulness desc, id limit ${p.limit}`,
);
