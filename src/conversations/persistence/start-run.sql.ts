/**
 * Hot path: every run starts with the statement below. Written by hand because it checks the thread, claims the
 * request's key, stores run and message, and answers calls that waited for approval, in one round trip and with a plan
 * made once.
 */
import { type ParameterReferences, type ParametersOf, statement } from '../../platform/database/index.js';
import {
  APPROVAL_HOURS,
  type ApprovalDecision,
  DECLINED_BY_MESSAGE,
  declinedOutput,
  EXPIRED_UNANSWERED,
  RESULT_EXPIRED,
  RESULT_REPLACED_BY_MESSAGE,
} from '../domain/approval.js';
import { IDEMPOTENCY_HOURS } from '../domain/idempotency.js';
import type { ToolCallRecord } from '../domain/message.js';
import { MAX_SESSION_TURNS } from '../domain/session-turns.js';
import type { Channel } from '../domain/thread.js';
import type { NewRun } from './new-run.js';
import { THREAD_EXISTS } from './thread.sql.js';

const PARAMETERS = {
  runId: 'uuid',
  organizationId: 'uuid',
  /** Null for a run with an API key. */
  sessionId: 'uuid',
  /** Null when the run names no user. */
  userKey: 'uuid',
  threadId: 'uuid',
  ownerId: 'uuid',
  messageId: 'uuid',
  userContext: 'jsonb',
  now: 'timestamptz',
  provider: 'text',
  model: 'text',
  useOwnApiKey: 'boolean',
  operation: 'text',
  key: 'text',
  fingerprint: 'text',
  /** Null for a run that begins with answers. */
  userMessageId: 'uuid',
  clientId: 'text',
  text: 'text',
  attachments: 'jsonb',
  /** Null for a run that begins with a message. */
  answersRunId: 'uuid',
  decisions: 'jsonb',
  /** What becomes of the waiting calls, in their order. */
  answered: 'jsonb',
  /** What becomes of waiting calls without an answer, by their status, before and after their requests have expired. */
  declined: 'jsonb',
  expired: 'jsonb',
} as const;

type Parameters = ParameterReferences<typeof PARAMETERS>;

export interface StartedRow {
  readonly channel: Channel;
  readonly is_first: boolean;
  readonly answers: boolean;
  readonly revision: number;
  readonly started: boolean;
  readonly open: boolean;
  /** The locked thread has the revision that the rest of the statement sees. */
  readonly current: boolean;
  readonly capped: boolean;
}

/**
 * The lock of the thread waits for a start, an end or a deletion that is under way, and then returns the row as that
 * statement left it. The rest of this statement still sees the snapshot from its beginning. When a run has started or
 * ended in between, the revisions differ (`seen`), and nothing is stored. This makes the count of the session's turns
 * exact too, since they are all on this thread. Every statement that locks a run locks its thread first.
 */
const THREAD = (p: Parameters): string => `
  thread as (
    select id, agent_id, channel, last_message_at is null as is_first, awaiting_run_id, revision
    from threads where organization_id = ${p.organizationId} and id = ${p.threadId} and ${THREAD_EXISTS} for no key update
  ), current_thread as (
    select thread.* from thread join threads seen on seen.id = ${p.threadId} and seen.revision = thread.revision
  ), session as (
    select count(*) >= ${MAX_SESSION_TURNS} as capped from runs where session_id = ${p.sessionId}
  ), open_thread as (
    select id, agent_id, awaiting_run_id from current_thread, session
    where not capped and (${p.answersRunId} is null or awaiting_run_id = ${p.answersRunId})
  )`;

/** A concurrent repeat waits at the unique index for the first request's end. */
const CLAIM = (p: Parameters): string => `
  claim as (
    insert into idempotency_keys (organization_id, operation, key, fingerprint, resource_id, created_at)
    select ${p.organizationId}, ${p.operation}, ${p.key}, ${p.fingerprint}, ${p.runId}, ${p.now}
    from open_thread where ${p.key} is not null
    on conflict (organization_id, operation, key) do update
      set fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = excluded.created_at
      where idempotency_keys.created_at < excluded.created_at - interval '${IDEMPOTENCY_HOURS} hours'
    returning resource_id
  )`;

const RUN = (p: Parameters): string => `
  run as (
    insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, user_context, created_at,
                      provider, model, use_own_api_key, decisions, answers_run_id, session_id, session_user_key)
    select ${p.runId}, ${p.organizationId}, open_thread.id, open_thread.agent_id, ${p.ownerId}, ${p.messageId},
           'running', ${p.userContext}, ${p.now}, ${p.provider}, ${p.model}, ${p.useOwnApiKey}, ${p.decisions},
           open_thread.awaiting_run_id, ${p.sessionId}, ${p.userKey}
    from open_thread where ${p.key} is null or exists (select 1 from claim)
    returning id, thread_id, answers_run_id
  )`;

const UNANSWERED = (p: Parameters): string =>
  `case when asked.completed_at <= ${p.now} - interval '${APPROVAL_HOURS} hours' then ${p.expired} else ${p.declined} end
   -> (call ->> 'status')`;

const IS_WAITING = `call ->> 'status' in ('awaiting_approval', 'awaiting_result')`;

/** Sets the status of the waiting calls in the message of the run that this run answers. */
const ANSWER_CALLS = (p: Parameters): string => `
  answered as (
    update messages set tool_calls = (
      select jsonb_agg(case when is_waiting then call || coalesce(${p.answered} -> (nth - 1), ${UNANSWERED(p)}) else call end
                       order by position)
      from (
        select call, position, ${IS_WAITING} as is_waiting,
               (count(*) filter (where ${IS_WAITING}) over (order by position))::int as nth
        from jsonb_array_elements(messages.tool_calls) with ordinality as calls(call, position)
      ) numbered
    )
    from run join runs asked on asked.id = run.answers_run_id
    where messages.id = asked.message_id
  )`;

/**
 * The run that answers has read the continuation. After a message instead of answers no run continues the waiting
 * calls, so their kept results are removed too.
 */
const DROP_INPUT = (p: Parameters): string => `
  dropped_input as (
    update runs set continuation = null,
                    kept_results = case when ${p.answersRunId} is not null then runs.kept_results end
    from run
    where runs.id = run.answers_run_id
      and (runs.continuation is not null or (${p.answersRunId} is null and runs.kept_results is not null))
  )`;

const MESSAGE = (p: Parameters): string => `
  message as (
    insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at, attachments, client_id)
    select ${p.userMessageId}, ${p.organizationId}, run.thread_id, run.id, 'user', ${p.text}, 'completed', ${p.now},
           ${p.attachments}, ${p.clientId}
    from run where ${p.userMessageId} is not null
  )`;

const TOUCHED = (p: Parameters): string => `
  touched as (
    update threads set updated_at = ${p.now}, last_message_at = ${p.now}, awaiting_run_id = null,
                       revision = revision + 1
    from run where threads.id = run.thread_id
    returning revision::float8
  )`;

export const START_RUN = statement(
  PARAMETERS,
  (p) => `
  with ${[THREAD(p), CLAIM(p), RUN(p), ANSWER_CALLS(p), DROP_INPUT(p), MESSAGE(p), TOUCHED(p)].join(',')}
  select thread.channel, thread.is_first, thread.awaiting_run_id is not null as answers,
         (select revision from touched) as revision, exists (select 1 from run) as started,
         exists (select 1 from open_thread) as open, exists (select 1 from current_thread) as current,
         (select capped from session) as capped from thread`,
);

/** Runs whose start got no answer. A thread has no message of another run before its first one, unless it came with a history. */
export const LATE_STARTS = statement(
  { ownerId: 'uuid', runIds: 'uuid[]' },
  (p) => `
  select runs.id, threads.channel, runs.cancel_requested_at is not null as cancelled, not exists (
           select 1 from messages where messages.thread_id = runs.thread_id and messages.run_id is distinct from runs.id
         ) as is_first
  from runs join threads on threads.id = runs.thread_id and ${THREAD_EXISTS}
  where runs.id = any(${p.runIds}) and runs.owner_id = ${p.ownerId} and runs.status = 'running'`,
);

export function startParameters(organizationId: string, run: NewRun, ownerId: string): ParametersOf<typeof PARAMETERS> {
  const { userMessage, resumeInput, idempotency, model } = run;
  const { id: runId, sessionId, userKey, threadId, messageId, userContext, createdAt: now } = run;
  return {
    ...{ runId, organizationId, sessionId, userKey, threadId, ownerId, messageId, userContext, now, ...model },
    operation: idempotency?.operation ?? null,
    key: idempotency?.key ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    userMessageId: userMessage?.id ?? null,
    clientId: userMessage?.clientId ?? null,
    text: userMessage?.text ?? null,
    attachments: userMessage?.attachments ?? [],
    answersRunId: resumeInput?.runId ?? null,
    decisions: resumeInput?.decisions.map(storedDecision) ?? null,
    answered: resumeInput?.decisions.map(answeredCall) ?? [],
    declined: DECLINED,
    expired: EXPIRED,
  };
}

type Answered = Pick<ToolCallRecord, 'status' | 'output'>;

/** The message of the run that makes an approved call has the call's result. */
function answeredCall(decision: ApprovalDecision): Answered {
  const { result } = decision;
  if (result) return { status: result.isError ? 'failed' : 'completed', output: result.output };
  return decision.approved ? { status: 'approved' } : { status: 'denied', output: declinedOutput(decision) };
}

/** Without the output of a client's call, which the message has. */
function storedDecision({ result, ...decision }: ApprovalDecision): ApprovalDecision {
  return result ? { ...decision, result: { ...result, output: '' } } : decision;
}

type Unanswered = Readonly<Record<'awaiting_approval' | 'awaiting_result', Answered>>;

const DECLINED: Unanswered = {
  awaiting_approval: { status: 'denied', output: DECLINED_BY_MESSAGE },
  awaiting_result: { status: 'denied', output: RESULT_REPLACED_BY_MESSAGE },
};
const EXPIRED: Unanswered = {
  awaiting_approval: { status: 'denied', output: EXPIRED_UNANSWERED },
  awaiting_result: { status: 'denied', output: RESULT_EXPIRED },
};
