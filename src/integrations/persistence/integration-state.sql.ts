/*
 * On the path of every message of an agent: what it uses, by one prepared statement. And the write of a state, which
 * must leave a newer one alone however the two come.
 */
import { statement } from '../../platform/database/index.js';

/** Without the tools, which are large and known by their digest. */
export const INTEGRATIONS_OF_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  select used.attached_at, i.id, i.organization_id, i.settings, i.excluded_tools, i.revision, i.created_at, i.updated_at,
    s.revision as state_revision, s.status, s.error, s.tools_digest, s.tools_bytes, jsonb_array_length(s.overview) as tools_count, s.checked_at
  from tool_integration_agents used
  join tool_integrations i on i.id = used.integration_id
  left join tool_integration_states s on s.integration_id = i.id
  where used.organization_id = ${p.organizationId} and used.agent_id = ${p.agentId}
  order by used.attached_at, i.id`,
);

/**
 * The lock waits for a removal or change that is under way, so that a state of what is gone by then is not stored. The
 * condition at the end leaves a newer state alone. A list that is the same is not written again, and where none came the one
 * that is there stays: read first and written back, it could take the place of one that came meanwhile.
 */
export const SAVE_STATE = statement(
  {
    ...{ organizationId: 'uuid', integrationId: 'uuid', revision: 'integer', status: 'text', error: 'text' },
    ...{
      isListed: 'boolean',
      tools: 'jsonb',
      toolsDigest: 'text',
      toolsBytes: 'integer',
      overview: 'jsonb',
      checkedAt: 'timestamptz',
    },
  },
  (p) => `
  insert into tool_integration_states as stored
    (integration_id, organization_id, revision, status, error, tools, tools_digest, tools_bytes, overview, checked_at)
  select i.id, i.organization_id, ${p.revision}, ${p.status}, ${p.error}, ${p.tools}, ${p.toolsDigest},
    ${p.toolsBytes}, ${p.overview}, ${p.checkedAt}
  from tool_integrations i
  where i.organization_id = ${p.organizationId} and i.id = ${p.integrationId} and i.revision = ${p.revision}
  for share of i
  on conflict (integration_id) do update set
    revision = excluded.revision, status = excluded.status, error = excluded.error, checked_at = excluded.checked_at,
    tools = case when ${p.isListed} and stored.tools_digest <> excluded.tools_digest then excluded.tools else stored.tools end,
    overview = case when ${p.isListed} and stored.tools_digest <> excluded.tools_digest then excluded.overview else stored.overview end,
    tools_digest = case when ${p.isListed} then excluded.tools_digest else stored.tools_digest end,
    tools_bytes = case when ${p.isListed} then excluded.tools_bytes else stored.tools_bytes end
  where stored.revision <= excluded.revision
  returning case when ${p.isListed} then null else overview end as kept`,
);
