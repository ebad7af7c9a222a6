/**
 * Removes and merges what is counted of traces. Written by hand because the tables have no key or no entity, and because each
 * statement handles a batch of rows.
 */
import { statement } from '../../platform/database/index.js';

/** The tables, with the column that holds the start of what a row counts. */
const TABLES = {
  trace_counts: 'hour',
  agent_usage: 'bucket_start',
  agent_users: 'day',
  removed_runs: 'started_at',
  suggestion_usage: 'started_at',
} as const;

const deleteSome = (table: string, condition: string, limit: string): string => `
  delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${limit})) returning 1`;

/** One statement for each table. */
export const DELETE_COUNTS_OF_AGENT = Object.keys(TABLES).map((table) =>
  statement({ organizationId: 'uuid', agentId: 'uuid', limit: 'integer' }, (p) => {
    const ofDeletedAgent = `organization_id = ${p.organizationId} and agent_id = ${p.agentId}
      and not exists (select 1 from agents where agents.id = ${p.agentId})`;
    return deleteSome(table, ofDeletedAgent, p.limit);
  }),
);

/** One statement for each table. */
export const DELETE_COUNTS_BEFORE = Object.entries(TABLES).map(([table, start]) =>
  statement({ cutoff: 'timestamptz', limit: 'integer' }, (p) => deleteSome(table, `${start} < ${p.cutoff}`, p.limit)),
);

/** Every run and suggestion of an agent also counts in its usage by the day. */
export const DELETED_AGENTS_WITH_COUNTS = statement(
  {},
  () => `
  select distinct organization_id as "organizationId", agent_id as "agentId" from agent_usage
  where width = 'day' and not exists (select 1 from agents where agents.id = agent_usage.agent_id)`,
);

/** Each statement that deletes traces adds one row with negative counts for each hour (`count_removed_traces`). */
export const MERGE_COUNTS = statement(
  {},
  () => `
  with several as (
    select agent_id, hour from trace_counts group by agent_id, hour having count(*) > 1
  ), before as (
    delete from trace_counts using several
    where trace_counts.agent_id = several.agent_id and trace_counts.hour = several.hour
    returning trace_counts.*
  )
  insert into trace_counts (organization_id, agent_id, hour, traces, replies)
  select organization_id, agent_id, hour, sum(traces), sum(replies) from before group by 1, 2, 3`,
);
