/**
 * SQL for the history of agents. Inserts: a version may hold hundreds of thousands of values, and the ORM copies and compares
 * each value of a row several times. Reads: the ORM has neither window functions nor lateral joins.
 */
import { statement } from '../../platform/database/index.js';

/** `changes` is text because the caller has serialized it already, to measure it. */
export const INSERT_VERSION = statement(
  {
    organizationId: 'uuid',
    agentId: 'uuid',
    version: 'integer',
    createdAt: 'timestamptz',
    changedBy: 'jsonb',
    changes: 'text',
    changesBytes: 'integer',
  },
  (p) => `
  insert into agent_versions (organization_id, agent_id, version, created_at, changed_by, changes, changes_bytes)
  values (${p.organizationId}, ${p.agentId}, ${p.version}, ${p.createdAt}, ${p.changedBy}, ${p.changes}::jsonb, ${p.changesBytes})`,
);

export const INSERT_PART = statement(
  { organizationId: 'uuid', agentId: 'uuid', version: 'integer', part: 'text', content: 'jsonb' },
  (p) => `
  insert into agent_version_parts (organization_id, agent_id, version, part, content)
  values (${p.organizationId}, ${p.agentId}, ${p.version}, ${p.part}, ${p.content})`,
);

export interface VersionRow {
  readonly version: number;
  readonly created_at: string;
  readonly changed_by: unknown;
  readonly changes: unknown;
}

/**
 * Versions before `before` (null: all), newest first: at most `limit`, and only as many as keep the sum of `changes_bytes`
 * within `maxBytes`. The first version is returned whatever its size, so that every page makes progress.
 */
export const SELECT_VERSIONS = statement(
  { organizationId: 'uuid', agentId: 'uuid', before: 'integer', limit: 'integer', maxBytes: 'integer' },
  (p) => `
  select version, created_at, changed_by, changes
  from (
    select version, created_at, changed_by, changes, changes_bytes, sum(changes_bytes) over (order by version desc) as total_bytes
    from agent_versions
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
      and (${p.before} is null or version < ${p.before})
    order by version desc
    limit ${p.limit}
  ) as page
  where total_bytes <= ${p.maxBytes} or total_bytes = changes_bytes
  order by version desc`,
);

/** Both columns are null for a version without parts. */
export interface PartRow {
  readonly part: string | null;
  readonly content: unknown;
}

/** The content that each part had at a version. No rows: the agent has no such version. */
export const SELECT_PARTS_AT = statement(
  { organizationId: 'uuid', agentId: 'uuid', version: 'integer' },
  (p) => `
  select parts.part, parts.content
  from agent_versions
  left join lateral (
    select distinct on (part) part, content
    from agent_version_parts
    where agent_version_parts.agent_id = agent_versions.agent_id
      and agent_version_parts.organization_id = agent_versions.organization_id
      and agent_version_parts.version <= agent_versions.version
    order by part, agent_version_parts.version desc
  ) as parts on true
  where agent_versions.organization_id = ${p.organizationId} and agent_versions.agent_id = ${p.agentId}
    and agent_versions.version = ${p.version}`,
);
