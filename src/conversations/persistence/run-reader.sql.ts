/**
 * Hot path: clients, and processes that wait for a run of another process, read a run again and again until it has
 * ended. Written by hand because the reads refer to several tables without a relation in the mapping, and the database
 * plans each text once.
 */
import { statement } from '../../platform/database/index.js';
import { APPROVAL_HOURS } from '../domain/approval.js';
import { THREAD_EXISTS } from './thread.sql.js';

/** Of a run as its readers see it, without its `approvals`. */
export const RUN_COLUMNS = `
  runs.id, runs.thread_id, runs.agent_id, runs.status, runs.error, runs.credits, runs.created_at, runs.completed_at,
  runs.stop_reason, runs.input_tokens::float8 as input_tokens, runs.output_tokens::float8 as output_tokens,
  runs.cached_input_tokens::float8 as cached_input_tokens`;

/** `unanswered`: the run's requests for approval are the open ones of its thread. */
export const FIND_RUN = statement(
  { organizationId: 'uuid', threadId: 'uuid', runId: 'uuid' },
  (p) => `
  select ${RUN_COLUMNS}, approvals, decisions, owner_id, message_id, provider, model, use_own_api_key,
         exists (select 1 from threads where threads.awaiting_run_id = runs.id and threads.id = runs.thread_id) as unanswered,
         exists (select 1 from threads where threads.id = runs.thread_id and ${THREAD_EXISTS}) as thread_exists
  from runs where organization_id = ${p.organizationId} and thread_id = ${p.threadId} and id = ${p.runId}`,
);

/** Of runs of all organizations. A deleted run is not under way. Finds the runs by their ids, as `isOwned` does. */
export const RUNS_UNDER_WAY = statement(
  { runIds: 'uuid[]' },
  (p) => `
  select runs.id from runs join threads on threads.id = runs.thread_id
  where runs.id = any(${p.runIds}) and coalesce(runs.status, '') = 'running' and ${THREAD_EXISTS}`,
);

export const OPEN_APPROVALS = statement(
  { organizationId: 'uuid', threadId: 'uuid' },
  (p) => `
  select asked.id as run_id, asked.approvals, asked.completed_at as asked_at, asked.continuation, asked.user_context, asked.session_id,
         asked.session_user_key,
         exists (select 1 from runs where runs.thread_id = threads.id and runs.status = 'running') as busy
  from threads left join runs asked on asked.id = threads.awaiting_run_id
  where threads.organization_id = ${p.organizationId} and threads.id = ${p.threadId} and ${THREAD_EXISTS}`,
);

export const FIND_THREAD_OF_RUN = statement(
  { organizationId: 'uuid', runId: 'uuid' },
  (p) => `
  select threads.id from runs join threads on threads.id = runs.thread_id
  where runs.organization_id = ${p.organizationId} and runs.id = ${p.runId} and ${THREAD_EXISTS}`,
);

/**
 * Two rows at most: the caller only needs to know whether there is exactly one. Reads the runs that wait, of which
 * `after` leaves out those that have certainly expired: no index on `runs` has the calls, since every run would pay for it.
 */
export const FIND_THREAD_OF_CALLS = statement(
  { organizationId: 'uuid', agentId: 'uuid', calls: 'jsonb', now: 'timestamptz', after: 'uuid' },
  (p) => `
  select threads.id from threads join runs asked on asked.id = threads.awaiting_run_id
  where threads.organization_id = ${p.organizationId} and threads.awaiting_run_id > ${p.after}
    and threads.agent_id = ${p.agentId} and asked.approvals @> ${p.calls}
    and asked.completed_at > ${p.now} - interval '${APPROVAL_HOURS} hours' and ${THREAD_EXISTS}
  limit 2`,
);
