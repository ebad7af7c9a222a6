/**
 * Hot path: clients, and processes that wait for a run of another process, read a run again and again until it has
 * ended. Written by hand because the reads refer to several tables without a relation in the mapping, and the database
 * plans each text once.
 */
import { statement } from '../../platform/database/index.js';
import { THREAD_EXISTS } from './thread.sql.js';

/** `unanswered`: the run's requests for approval are the open ones of its thread. */
export const FIND_RUN = statement(
  { organizationId: 'uuid', threadId: 'uuid', runId: 'uuid' },
  (p) => `
  select id, thread_id, agent_id, owner_id, message_id, status, error, credits, created_at, completed_at, provider, model,
         use_own_api_key, stop_reason, approvals, decisions,
         input_tokens::float8 as input_tokens, output_tokens::float8 as output_tokens,
         cached_input_tokens::float8 as cached_input_tokens,
         exists (select 1 from threads where threads.awaiting_run_id = runs.id and threads.id = runs.thread_id) as unanswered,
         exists (select 1 from threads where threads.id = runs.thread_id and ${THREAD_EXISTS}) as thread_exists
  from runs where organization_id = ${p.organizationId} and thread_id = ${p.threadId} and id = ${p.runId}`,
);

export const OPEN_APPROVALS = statement(
  { organizationId: 'uuid', threadId: 'uuid' },
  (p) => `
  select asked.id as run_id, asked.approvals, asked.completed_at as asked_at, asked.user_context, asked.session_id,
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
