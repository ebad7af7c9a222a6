/** SQL because versions are counted and their parts are moved without being read. */
import { statement } from '../../platform/database/index.js';

const AGENT = { organizationId: 'uuid', agentId: 'uuid' } as const;

export const AGENTS_WITH_OLD_VERSIONS = statement(
  { kept: 'integer' },
  (p) => `
  select organization_id::text as "organizationId", id::text as "agentId" from agents
  where version > ${p.kept} and exists (
    select 1 from agent_versions where agent_versions.agent_id = agents.id order by version desc offset ${p.kept} limit 1)`,
);

/** The oldest version that stays when at most `limit` of the versions before the newest `kept` are removed; no row: all stay. */
export const OLDEST_LEFT = statement(
  { ...AGENT, kept: 'integer', limit: 'integer' },
  (p) => `
  select version from (
    select version, row_number() over (order by version) as nth, count(*) over () as total
    from agent_versions where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
  ) as numbered
  where total > ${p.kept} and nth = least(total - ${p.kept}, ${p.limit}) + 1`,
);

/** Gives the version the parts that it has from versions before it. */
export const MOVE_PARTS = statement(
  { ...AGENT, version: 'integer' },
  (p) => `
  update agent_version_parts set version = ${p.version} from (
    select distinct on (part) part, version from agent_version_parts
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and version <= ${p.version}
    order by part, version desc
  ) as newest
  where agent_version_parts.agent_id = ${p.agentId} and agent_version_parts.part = newest.part
    and agent_version_parts.version = newest.version and newest.version < ${p.version}`,
);

export const REMOVE_VERSIONS_BEFORE = statement(
  { ...AGENT, version: 'integer' },
  (p) => `
  delete from agent_versions
  where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and version < ${p.version} returning version`,
);

/** A digest is 32 bytes in base64url; JSON shows the mark of a reference as an escape. */
const REFERENCES = `'\\\\u0001text:([A-Za-z0-9_-]{43})', 'g'`;

/** Removes the large texts that no version of the agent refers to. */
export const REMOVE_UNUSED_TEXTS = statement(
  AGENT,
  (p) => `
  delete from agent_version_texts
  where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and digest not in (
    select reference[1] from (
      select changes::text as json from agent_versions where agent_id = ${p.agentId}
      union all select content::text from agent_version_parts where agent_id = ${p.agentId}
    ) as stored cross join lateral regexp_matches(stored.json, ${REFERENCES}) as reference
  )`,
);
