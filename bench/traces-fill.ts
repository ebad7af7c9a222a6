import type { SqlExecutor } from '../src/platform/database/index.ts';

export interface FilledAgent {
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
}

/** Rows of one statement: one transaction for all of them would be too large for the embedded database. */
const AT_ONCE = 20_000;
const DAY_SECONDS = 86_400;

/**
 * Writes traces like those of runs, in a fraction of the time: each with two steps and about 1.5 KB of text.
 * @param spread number of days before two days ago, published; or 0 for three minutes ago, unpublished
 */
export async function fillTraces(
  database: SqlExecutor,
  { organizationId, agentId, threadId }: FilledAgent,
  count: number,
  spread: number,
): Promise<void> {
  const seconds = spread === 0 ? 0 : (spread * DAY_SECONDS) / count;
  for (let first = 0; first < count; first += AT_ONCE) {
    await database.query(
      `insert into traces (id, organization_id, agent_id, thread_id, message_id, channel, provider, model, status, started_at, latency_ms,
         time_to_first_token_ms, input_tokens, output_tokens, credits, input, output, steps, user_context, ended_at, stored_bytes, user_key, published_at)
       select id, $1::uuid, $2::uuid, $3::uuid, gen_random_uuid(), 'api', 'anthropic', 'claude', case when nth % 50 = 0 then 'failed' else 'completed' end,
         started_at, latency, latency / 4, 900, 120, 0.39, repeat('How do I ', 20), repeat('You can do it by ', 30),
         jsonb_build_array(
           jsonb_build_object('id', id, 'type', 'model', 'name', 'claude', 'startedAt', started_at, 'latencyMs', latency, 'input', repeat('a', 200), 'output', repeat('b', 200), 'error', null),
           jsonb_build_object('id', gen_random_uuid(), 'type', 'tool', 'name', 'search', 'startedAt', started_at, 'latencyMs', 5, 'input', '{}'::jsonb, 'output', repeat('c', 200), 'error', null)),
         '{"userId": "u"}', started_at + latency * interval '1 millisecond', 1800, lpad(to_hex(nth % 5000), 32, '0')::uuid,
         case when $6::float8 > 0 then started_at + interval '2 minutes' end
       from (select gen_random_uuid() as id, nth, (500 + random() * random() * 20000)::int as latency,
                    now() - interval '3 minutes' - (case when $6::float8 = 0 then 0 else 2 * ${String(DAY_SECONDS)} end + nth * $6::float8) * interval '1 second' as started_at
             from generate_series($4::int, $5::int) nth) made`,
      [organizationId, agentId, threadId, first + 1, Math.min(first + AT_ONCE, count), seconds],
    );
  }
}

/** Stores the counts of published traces as the job would, some days at a time, because statements have a time limit. */
export async function countAll(database: SqlExecutor): Promise<void> {
  for (let daysAgo = 0; daysAgo <= 95; daysAgo += DAYS_AT_ONCE) {
    const range = [daysAgo + DAYS_AT_ONCE, daysAgo].map((days) => startOfDay(days).toISOString());
    await database.query(
      `insert into trace_counts select organization_id, agent_id, date_trunc('hour', started_at, 'UTC'), count(*), count(message_id) ${published} group by 1, 2, 3`,
      range,
    );
    await database.query(
      `insert into agent_users select distinct organization_id, agent_id, date_trunc('day', started_at, 'UTC'), user_key ${published} and user_key is not null`,
      range,
    );
    for (const width of ['hour', 'day']) await database.query(USAGE_OF_DAYS, [...range, width]);
  }
  for (const table of ['trace_counts', 'agent_users', 'agent_usage']) await database.query(`analyze ${table}`);
}

const DAYS_AT_ONCE = 5;
const published =
  'from traces where published_at is not null and started_at >= $1::timestamptz and started_at < $2::timestamptz';

const USAGE_OF_DAYS = `
  with bucketed as (
    select organization_id, agent_id, date_trunc($3::text, started_at, 'UTC') as start, latency_ms, time_to_first_token_ms, status,
           ceil(ln(greatest(latency_ms, 1)) / ln(1.05))::int as duration, ceil(ln(greatest(time_to_first_token_ms, 1)) / ln(1.05))::int as first
    ${published}
  ), durations as (
    select agent_id, start, jsonb_object_agg(duration, n) as counts from (select agent_id, start, duration, count(*) as n from bucketed group by 1, 2, 3) d group by 1, 2
  ), firsts as (
    select agent_id, start, jsonb_object_agg(first, n) as counts from (select agent_id, start, first, count(*) as n from bucketed group by 1, 2, 3) d group by 1, 2
  ), totals as (
    select organization_id, agent_id, start, count(*) as runs, count(*) filter (where status = 'failed') as failed,
           percentile_disc(array[0.5, 0.95]) within group (order by latency_ms) as took,
           percentile_disc(array[0.5, 0.95]) within group (order by time_to_first_token_ms) as began
    from bucketed group by 1, 2, 3
  )
  insert into agent_usage
  select organization_id, agent_id, $3::text, start, runs, failed, runs * 900, runs * 120, runs * 3900, took[1], took[2], began[1], began[2], durations.counts, firsts.counts
  from totals join durations using (agent_id, start) join firsts using (agent_id, start)`;

function startOfDay(daysAgo: number): Date {
  return new Date(Math.floor(Date.now() / (DAY_SECONDS * 1_000) - daysAgo + 1) * DAY_SECONDS * 1_000);
}
