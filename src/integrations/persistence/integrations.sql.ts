/**
 * SQL because `AGENT_INTEGRATIONS_WITH_STATES` is on the path of every message and planned once, and the ORM cannot say the others:
 * they join or lock rows of agents, which another context maps, or write depending on a row that another process may be changing.
 */
import { statement } from '../../platform/database/index.js';

const COLUMNS = 'i.id, i.organization_id, i.settings, i.excluded_tools, i.revision, i.created_at, i.updated_at';

/** Without the tools, which are large and identified by their digest. */
export const AGENT_INTEGRATIONS_WITH_STATES = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  select used.attached_at, ${COLUMNS},
    s.revision as state_revision, s.status, s.error, s.tools_digest, s.tools_bytes, jsonb_array_length(s.overview) as tools_count, s.checked_at
  from tool_integration_agents used
  join tool_integrations i on i.id = used.integration_id
  left join tool_integration_states s on s.integration_id = i.id
  where used.organization_id = ${p.organizationId} and used.agent_id = ${p.agentId}
  order by used.attached_at, i.id`,
);

/** No row if the agent has been deleted. `id` and `type` limit the result to one integration or one type. */
export const AGENT_INTEGRATIONS = statement(
  { organizationId: 'uuid', agentId: 'uuid', id: 'uuid', type: 'text' },
  (p) => `
  select ${COLUMNS} from tool_integration_agents used
  join tool_integrations i on i.id = used.integration_id
  join agents on agents.id = used.agent_id
  where used.organization_id = ${p.organizationId} and used.agent_id = ${p.agentId}
    and (${p.id} is null or i.id = ${p.id}) and (${p.type} is null or i.type = ${p.type})
  order by used.attached_at, i.id`,
);

export const AGENTS_OF_INTEGRATION = statement(
  { organizationId: 'uuid', integrationId: 'uuid' },
  (p) => `
  select used.agent_id from tool_integration_agents used join agents on agents.id = used.agent_id
  where used.organization_id = ${p.organizationId} and used.integration_id = ${p.integrationId}
  order by used.agent_id`,
);

/** The update changes nothing: it locks the row of the same identity and returns it. */
export const INSERT_OR_LOCK = statement(
  {
    ...{ id: 'uuid', organizationId: 'uuid', type: 'text', identity: 'text', agentId: 'uuid', settings: 'jsonb' },
    ...{ excludedTools: 'jsonb', revision: 'integer', createdAt: 'timestamptz', updatedAt: 'timestamptz' },
  },
  (p) => `
  insert into tool_integrations as i
    (id, organization_id, type, identity, agent_id, settings, excluded_tools, revision, created_at, updated_at)
  values (${p.id}, ${p.organizationId}, ${p.type}, ${p.identity}, ${p.agentId}, ${p.settings}, ${p.excludedTools}, ${p.revision},
    ${p.createdAt}, ${p.updatedAt})
  on conflict (organization_id, type, identity, agent_id) do update set revision = i.revision
  returning ${COLUMNS}`,
);

/**
 * The lock waits for a removal or change of the integration that is under way, so that no state is stored for a removed integration or
 * an older revision. The last condition keeps a newer state. An unchanged list is not written again. Without a list the stored one
 * stays: if it were read first and written back, it could overwrite a list that another process stored in between.
 */
export const SAVE_STATE = statement(
  {
    ...{ organizationId: 'uuid', integrationId: 'uuid', revision: 'integer', status: 'text', error: 'text' },
    ...{ isListed: 'boolean', tools: 'jsonb', toolsDigest: 'text', toolsBytes: 'integer' },
    ...{ overview: 'jsonb', checkedAt: 'timestamptz' },
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

/** No row while the agent exists. */
export const INTEGRATIONS_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `select used.integration_id from tool_integration_agents used
  where used.organization_id = ${p.organizationId} and used.agent_id = ${p.agentId}
    and not exists (select 1 from agents where agents.id = used.agent_id)`,
);
