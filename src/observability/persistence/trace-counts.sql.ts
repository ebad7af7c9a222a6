/**
 * Counts the traces of an agent in a range of time, and removes and merges what is counted. Written by hand because one statement adds
 * up stored counts, unpublished traces and the partial hours at both ends (it sees one moment, so it counts no trace twice), because
 * the tables have no key or no entity, and because each removal handles a batch of rows.
 */
import { statement } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import { type BucketWidth, WIDTH_MS } from '../domain/usage.js';

/** The parameters of every statement here, made by `withWhole`. */
export const RANGE = {
  organizationId: 'uuid',
  agentId: 'uuid',
  /** Included. */
  from: 'timestamptz',
  /** Not included. */
  to: 'timestamptz',
  /** From the start of the first whole hour or day to the end of the last one. */
  firstWhole: 'timestamptz',
  endWhole: 'timestamptz',
} as const;

type References = { readonly [Name in keyof typeof RANGE]: string };

const ofAgent = (p: References): string => `organization_id = ${p.organizationId} and agent_id = ${p.agentId}`;

/** Traces and replies of the whole hours, by the hour of their start. */
const wholeHours = (p: References): string => `
  hours as (
    select hour, sum(traces) as traces, sum(replies) as replies from (
      select hour, traces, replies from trace_counts
      where ${ofAgent(p)} and hour >= ${p.firstWhole} and hour < ${p.endWhole}
      union all
      select date_trunc('hour', started_at, 'UTC'), 1, (message_id is not null)::int from traces
      where ${ofAgent(p)} and published_at is null and started_at >= ${p.firstWhole} and started_at < ${p.endWhole}
    ) counted group by hour
  )`;

/** Traces and replies before the first whole hour, and after the last one. */
const partHours = (p: References): string => `
  first_part as (
    select count(*) as traces, count(message_id) as replies from traces
    where ${ofAgent(p)} and started_at >= ${p.from} and started_at < ${p.firstWhole}
  ), last_part as (
    select count(*) as traces, count(message_id) as replies from traces
    where ${ofAgent(p)} and started_at >= ${p.endWhole} and started_at < ${p.to}
  )`;

/** Traces and replies of deleted threads whose rows are not removed yet. There are few such threads, so each is looked up. */
const hidden = (p: References): string => `
  hidden as (
    select coalesce(sum(each.traces), 0) as traces, coalesce(sum(each.replies), 0) as replies
    from threads cross join lateral (
      select count(*) as traces, count(message_id) as replies from traces
      where thread_id = threads.id and started_at >= ${p.from} and started_at < ${p.to}
    ) each
    where deleted_at is not null and ${ofAgent(p)}
  )`;

/**
 * The number of traces, and where to start reading a page at `offset`, newest first: `skipped` traces started at `before` or later;
 * null to start at the newest.
 */
export const COUNT_TRACES = statement(
  { ...RANGE, offset: 'bigint' },
  (p) => `
  with ${wholeHours(p)}, ${partHours(p)}, ${hidden(p)}, newest_first as (
    select hour, (select traces from last_part) + sum(traces) over (order by hour desc) as upto from hours
  ), start as (
    select hour, upto from newest_first where upto <= ${p.offset} order by hour limit 1
  )
  select (coalesce((select sum(traces) from hours), 0) + first_part.traces + last_part.traces - hidden.traces)::float8 as count,
         (select hour from start) as before, coalesce((select upto from start), 0)::float8 as skipped
  from first_part, last_part, hidden`,
);

export const COUNT_REPLIES = statement(
  RANGE,
  (p) => `
  with ${wholeHours(p)}, ${partHours(p)}, ${hidden(p)}
  select (coalesce((select sum(replies) from hours), 0) + first_part.replies + last_part.replies - hidden.replies)::float8 as count
  from first_part, last_part, hidden`,
);

/** The distinct users of the runs; expects whole days. */
export const COUNT_USERS = statement(
  RANGE,
  (p) => `
  select count(*)::float8 as count from (
    select user_key from (
      select user_key from agent_users where ${ofAgent(p)} and day >= ${p.firstWhole} and day < ${p.endWhole}
      union all
      select user_key from traces where ${ofAgent(p)} and user_key is not null
        and ((started_at >= ${p.from} and started_at < ${p.firstWhole}) or (started_at >= ${p.endWhole} and started_at < ${p.to}))
      union all
      select user_key from traces where ${ofAgent(p)} and user_key is not null and published_at is null
        and started_at >= ${p.from} and started_at < ${p.to}
    ) named group by user_key
  ) each`,
);

/** The range with its whole hours or days. A range without any is entirely in its first part. */
export function withWhole(
  width: BucketWidth,
  { from, to }: TimeRange,
): TimeRange & { readonly firstWhole: Date; readonly endWhole: Date } {
  const firstWhole = Math.ceil(from.getTime() / WIDTH_MS[width]) * WIDTH_MS[width];
  const endWhole = Math.floor(to.getTime() / WIDTH_MS[width]) * WIDTH_MS[width];
  if (firstWhole > endWhole) return { from, to, firstWhole: to, endWhole: to };
  return { from, to, firstWhole: new Date(firstWhole), endWhole: new Date(endWhole) };
}

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
