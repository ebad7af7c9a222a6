import { numberedAfter, type Statement } from '../../platform/database/index.js';
import { ANSWER_CALLS } from './answer-calls.sql.js';
import { claimCte } from './idempotency.sql.js';
import { IS_THERE } from './thread.sql.js';

/**
 * The thread's lock waits for a start, an end or a deletion under way, and then shows the row as that has left it. The
 * rest of the statement still sees all as it was when the statement began: a start or an end that came in between
 * shows in the revision (`seen`), and then nothing is stored. Whatever locks a run locks its thread before it.
 */
export const START_SQL = `
  with thread as (
    select id, agent_id, channel, last_message_at is null as is_first, awaiting_run_id, revision
    from threads where organization_id = $2 and id = $3 and ${IS_THERE} for no key update
  ), current_thread as (
    select thread.* from thread join threads seen on seen.id = $3 and seen.revision = thread.revision
  ), open_thread as (
    select id, agent_id, awaiting_run_id from current_thread where $16::uuid is null or awaiting_run_id = $16::uuid
  ), ${claimCte({ organization: '$2', operation: '$13', key: '$14', fingerprint: '$15', resource: '$1', at: '$7', source: 'open_thread' })},
  run as (
    insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, user_context, created_at,
                      provider, model, use_own_api_key, decisions, answers_run_id)
    select $1::uuid, $2::uuid, open_thread.id, open_thread.agent_id, $4::uuid, $5::uuid, 'running', $6::jsonb,
           $7::timestamptz, $10, $11, $12::boolean, $17::jsonb, open_thread.awaiting_run_id
    from open_thread where $14::text is null or exists (select 1 from claim)
    returning id, thread_id, answers_run_id
  ), ${ANSWER_CALLS}, message as (
    insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at, attachments)
    select $8::uuid, $2::uuid, run.thread_id, run.id, 'user', $9, 'completed', $7::timestamptz, $20::jsonb from run
    where $8::uuid is not null
  ), touched as (
    update threads set updated_at = $7::timestamptz, last_message_at = $7::timestamptz, awaiting_run_id = null,
                       revision = revision + 1
    from run where threads.id = run.thread_id
    returning revision::float8
  )
  select thread.channel, thread.is_first, thread.awaiting_run_id is not null as answers,
         (select revision from touched) as revision, exists (select 1 from run) as started,
         exists (select 1 from open_thread) as open, exists (select 1 from current_thread) as current from thread`;

/** Inserts or completes the assistant message of the runs in `source`; its parameters are $5 to $13. */
export const upsertMessage = (condition: string, source: string): string => `
  message as (
    insert into messages
      (id, organization_id, thread_id, run_id, role, content, status, blocked, tool_calls, transcript, created_at)
    select $5::uuid, $1::uuid, $6::uuid, $7::uuid, 'assistant', $8, $9, $10::boolean, $11::jsonb, $12::jsonb,
           $13::timestamptz
    from ${source} where ${condition}::boolean
    on conflict (id) do update set
      content = excluded.content, status = excluded.status, blocked = excluded.blocked,
      tool_calls = excluded.tool_calls, transcript = excluded.transcript
  )`;

const FINISH_SQL = `
  with thread as (
    select id from threads where organization_id = $1 and id = $6 for no key update
  ), ended_run as (
    update runs set status = $14, error = $15::jsonb, completed_at = $16::timestamptz,
                    input_tokens = $17::bigint, output_tokens = $18::bigint, credits = $19::double precision,
                    stop_reason = $21, approvals = $22::jsonb
    from thread
    where runs.thread_id = thread.id and runs.organization_id = $1 and runs.id = $2 and owner_id = $3
      and status = 'running'
    returning runs.id, runs.thread_id
  ), ${upsertMessage('$4', 'ended_run')}, touched as (
    update threads set updated_at = $16::timestamptz, last_message_at = $16::timestamptz,
                       title = coalesce(threads.title, $20),
                       awaiting_run_id = case when $14 = 'requires_action' then ended_run.id end,
                       revision = threads.revision + 1
    from ended_run where threads.id = ended_run.thread_id
    returning threads.revision::float8
  )`;

/**
 * The statement of a run's end, with what the observers keep. Put together once: the records of one process
 * have the same texts from run to run.
 */
export class FinishStatement {
  private known: { readonly records: readonly string[]; readonly sql: string } | undefined;

  /** @param parameters how many the end itself takes */
  sqlWith(records: readonly Statement[], parameters: number): string {
    const { known } = this;
    if (known?.records.length === records.length && records.every(({ sql }, index) => sql === known.records[index])) {
      return known.sql;
    }
    const sql = joined(records, parameters);
    this.known = { records: records.map((record) => record.sql), sql };
    return sql;
  }
}

function joined(records: readonly Statement[], parameters: number): string {
  let count = parameters;
  const kept = records.map(({ sql, parameters: own }, index) => {
    const part = `, record_${index} as (${numberedAfter(sql, count)})`;
    count += own.length;
    return part;
  });
  return `${FINISH_SQL}${kept.join('')} select touched.revision from ended_run, touched`;
}

/** Either way: a heartbeat from the future is one from before the database's clock was set back. */
const heardWithin = (seconds: string): string =>
  `abs(extract(epoch from now() - run_owners.heartbeat_at)) < ${seconds}::float8`;

/**
 * A process's own runs are judged by what it knows of them alone, and those of others only by one that the database
 * has heard of within $5 seconds itself: where all are silent, it is the database that was away. $1 is 0 where
 * nobody else can be alive.
 */
export const TAKE_ORPHAN_SQL = `
  select runs.id, runs.organization_id, runs.thread_id, runs.agent_id, runs.message_id, runs.user_context,
         runs.created_at, runs.provider, runs.model, runs.use_own_api_key, runs.decisions, threads.channel, asked.id as user_message_id, asked.content as user_text
  from runs
  join threads on threads.id = runs.thread_id
  left join messages asked on asked.run_id = runs.id and asked.role = 'user'
    and asked.thread_id = runs.thread_id
  where runs.status = 'running' and case
    when runs.owner_id = $2::uuid then runs.created_at < $3::timestamptz and not runs.id = any($4::uuid[])
    else not exists (select 1 from run_owners where run_owners.id = runs.owner_id and ${heardWithin('$1')})
      and ($1::float8 = 0 or exists (select 1 from run_owners where run_owners.id = $2::uuid and ${heardWithin('$5')}))
  end
  limit 1 for no key update of threads skip locked for update of runs skip locked`;
