/**
 * Publishes traces, hundreds at a time, every half minute. Written by hand because each statement handles a batch that the unit of work
 * would handle row by row.
 */
import { statement } from '../../platform/database/index.js';
import { BUCKET_GROWTH } from '../domain/duration-histogram.js';

/** The bucket number of a duration in milliseconds; null for null. */
export const bucketOf = (milliseconds: string): string =>
  `ceil(ln((case when ${milliseconds} < 1 then 1 else ${milliseconds} end)::float8) / ln(${BUCKET_GROWTH}))::int`;

const TOKENS = `
  coalesce(input_tokens, 0)::float8 as "inputTokens", coalesce(output_tokens, 0)::float8 as "outputTokens",
  round(credits * 10000)::float8 as "creditUnits"`;

/** The usage of a run, as `UsageFacts`. */
export const USAGE_FACTS = `
  agent_id as "agentId", true as "isRun", status in ('failed', 'timed_out') as failed, ${TOKENS},
  ${bucketOf('latency_ms')} as duration, ${bucketOf('time_to_first_token_ms')} as "firstToken"`;

/** The usage of suggestions, as `UsageFacts`. */
const SUGGESTION_FACTS = `
  agent_id as "agentId", false as "isRun", false as failed, ${TOKENS}, null::int as duration, null::int as "firstToken"`;

/** Hour and day of the run, in milliseconds since 1970. */
const BUCKETS = `
  extract(epoch from date_trunc('hour', started_at, 'UTC'))::float8 * 1000 as hour,
  extract(epoch from date_trunc('day', started_at, 'UTC'))::float8 * 1000 as day`;

export const TRACES_TO_PUBLISH = statement(
  { before: 'timestamptz', limit: 'integer' },
  (p) => `
  select id, organization_id as "organizationId" from traces
  where published_at is null and ended_at <= ${p.before} order by ended_at limit ${p.limit}`,
);

/**
 * Held by what publishes or merges: it reads the usage of a bucket before it adds to it. What ends runs or deletes traces does not
 * take this lock. Not `Transaction.lock`, whose number differs from the one that the former release takes: during an upgrade the
 * publishers of both run, and usage would be lost.
 */
export const LOCK_PUBLISHING = statement(
  {},
  () => `select pg_advisory_xact_lock(hashtext('traces.publish')) is null as locked`,
);

/**
 * Skips traces that another publisher has published since, and traces that another transaction is deleting. `withheldUntil` is by
 * organization: traces of runs that started until then stay in the service.
 */
export const MARK_PUBLISHED = statement(
  { ids: 'uuid[]', withheldUntil: 'jsonb', publishedAt: 'timestamptz' },
  (p) => `
  update traces set published_at = ${p.publishedAt}, 
    withheld = coalesce(started_at <= (${p.withheldUntil} ->> organization_id::text)::timestamptz, false)
  where id = any(array(
    select id from traces where id = any(${p.ids}) and published_at is null order by id for update skip locked))
  returning id, organization_id as "organizationId", user_key as "userKey", message_id is not null as "hasReply", withheld,
    ${BUCKETS}, ${USAGE_FACTS}`,
);

/** Merges the rows of the same agent and hour, also those of `counts`, so that a sum reads few rows after any number of batches. */
export const ADD_TRACE_COUNTS = statement(
  { counts: 'jsonb' },
  (p) => `
  with added as (
    select * from jsonb_to_recordset(${p.counts})
      as added (organization_id uuid, agent_id uuid, hour timestamptz, traces bigint, replies bigint)
  ), before as (
    delete from trace_counts using added where trace_counts.agent_id = added.agent_id and trace_counts.hour = added.hour
    returning trace_counts.*
  )
  insert into trace_counts (organization_id, agent_id, hour, traces, replies)
  select organization_id, agent_id, hour, sum(traces), sum(replies)
  from (select * from added union all select * from before) counted group by 1, 2, 3`,
);

/** Takes the usage of runs whose traces were deleted before they were published, and of suggestions: at most `limit` rows of each. */
export const TAKE_USAGE_WITHOUT_TRACE = statement(
  { limit: 'integer' },
  (p) => `
  with runs as (
    delete from removed_runs where ctid = any(array(select ctid from removed_runs limit ${p.limit} for update skip locked))
    returning organization_id as "organizationId", ${BUCKETS}, ${USAGE_FACTS}
  ), suggestions as (
    delete from suggestion_usage where ctid = any(array(select ctid from suggestion_usage limit ${p.limit} for update skip locked))
    returning organization_id as "organizationId", ${BUCKETS}, ${SUGGESTION_FACTS}
  )
  select * from runs union all select * from suggestions`,
);

/** The stored usage of a bucket, as `UsageColumns`. */
export const USAGE_COLUMNS = `
  agent_id as "agentId", width, extract(epoch from bucket_start)::float8 * 1000 as start,
  runs::float8, failed::float8, input_tokens::float8 as "inputTokens", output_tokens::float8 as "outputTokens",
  credit_units::float8 as "creditUnits", duration_p50::float8 as "durationP50", duration_p95::float8 as "durationP95",
  first_token_p50::float8 as "firstTokenP50", first_token_p95::float8 as "firstTokenP95"`;

export const FIND_USAGE = statement(
  { agentIds: 'uuid[]', widths: 'text[]', starts: 'timestamptz[]' },
  (p) => `
  select ${USAGE_COLUMNS}, durations, first_tokens as "firstTokens" from agent_usage
  where (agent_id, width, bucket_start) in (select * from unnest(${p.agentIds}, ${p.widths}, ${p.starts}))`,
);

export const SET_USAGE = statement(
  { usage: 'jsonb' },
  (p) => `
  insert into agent_usage
  select * from jsonb_populate_recordset(null::agent_usage, ${p.usage})
  on conflict (agent_id, width, bucket_start) do update set
    runs = excluded.runs, failed = excluded.failed, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    credit_units = excluded.credit_units, duration_p50 = excluded.duration_p50, duration_p95 = excluded.duration_p95,
    first_token_p50 = excluded.first_token_p50, first_token_p95 = excluded.first_token_p95,
    durations = excluded.durations, first_tokens = excluded.first_tokens`,
);

/** The number of columns of `USAGE_COLUMNS` and the two histograms. */
const KEPT_COLUMNS = 14;

/**
 * The stored usage of a range, and the runs that are not in it yet. One statement sees one moment, so each run is in exactly one of the
 * two. Histograms are returned only for buckets to which such a run has to be added.
 */
export const USAGE_OF_RANGE = statement(
  { organizationId: 'uuid', agentId: 'uuid', from: 'timestamptz', to: 'timestamptz', width: 'text' },
  (p) => `
  with unpublished as (
    select date_trunc(${p.width}, started_at, 'UTC') as bucket_start, ${USAGE_FACTS} from traces
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and published_at is null
      and started_at >= ${p.from} and started_at < ${p.to}
    union all
    select date_trunc(${p.width}, started_at, 'UTC'), ${USAGE_FACTS} from removed_runs
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and started_at >= ${p.from} and started_at < ${p.to}
    union all
    select date_trunc(${p.width}, started_at, 'UTC'), ${SUGGESTION_FACTS} from suggestion_usage
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and started_at >= ${p.from} and started_at < ${p.to}
  ), kept as (
    select ${USAGE_COLUMNS},
           case when bucket_start in (select bucket_start from unpublished) then durations end as durations,
           case when bucket_start in (select bucket_start from unpublished) then first_tokens end as "firstTokens"
    from agent_usage
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and width = ${p.width}
      and bucket_start >= ${p.from} and bucket_start < ${p.to}
  )
  select kept.*, null::jsonb as run from kept
  union all
  select ${Array.from({ length: KEPT_COLUMNS }, () => 'null').join(', ')}, to_jsonb(unpublished) || jsonb_build_object('start', extract(epoch from bucket_start)::float8 * 1000) from unpublished`,
);

export const ADD_USERS = statement(
  { users: 'jsonb' },
  (p) => `
  insert into agent_users select * from jsonb_populate_recordset(null::agent_users, ${p.users}) on conflict do nothing`,
);
