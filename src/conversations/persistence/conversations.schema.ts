import type { ContextSchema } from '../../platform/database/index.js';
import { isBareUser } from '../domain/user-key.js';
import {
  ADDITIONAL_CONTEXT,
  CONTINUATION,
  idempotencyKeys,
  KEPT_RESULTS,
  messages,
  runs,
  threads,
} from './conversations.entities.js';

/**
 * Messages and runs are deleted with their thread. `messages.seq` is the order of a conversation: the runs of a thread do not
 * overlap, and clocks that differ between processes do not matter.
 */
export const conversationsSchema: ContextSchema = {
  entities: [threads, messages, runs, idempotencyKeys],
  documents: [ADDITIONAL_CONTEXT, CONTINUATION, KEPT_RESULTS],
  base: [
    // `contact` changes after each gap in the heartbeats of a process: see `BEAT`.
    `create table run_owners (
      id uuid primary key,
      started_at timestamptz not null default now(),
      heartbeat_at timestamptz not null default now(),
      contact uuid not null default gen_random_uuid()
    )`,

    /**
     * `external_id` is the client's own id of a thread, unique for the agent. `awaiting_run_id` is the run whose requests for
     * approval are open. Every statement that adds messages or changes what models read of them increments `revision`.
     *
     * A large thread, and every thread of a deleted agent, is deleted in two steps: `deleted_at`, or the absence of the agent,
     * hides it from every reader, then a job removes its rows in small batches. So there is no foreign key to the agent.
     */
    `create table threads (
      id uuid primary key,
      organization_id uuid not null references organizations (id) on delete cascade,
      agent_id uuid not null,
      title text,
      channel text not null check (channel in ('api', 'widget')),
      metadata jsonb not null default '{}',
      external_id text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      last_message_at timestamptz,
      activity_at timestamptz not null generated always as (coalesce(last_message_at, created_at)) stored,
      awaiting_run_id uuid,
      revision bigint not null default 0,
      deleted_at timestamptz
    )`,
    'create index threads_by_activity on threads (organization_id, activity_at desc, id desc)',
    'create unique index threads_by_external_id on threads (agent_id, external_id) where external_id is not null',
    'create index threads_by_agent on threads (agent_id, activity_at desc, id desc)',
    // For the lists of open requests.
    'create index threads_awaiting on threads (organization_id, awaiting_run_id) where awaiting_run_id is not null',
    // For the job that removes deleted threads.
    'create index threads_deleted on threads (id) where deleted_at is not null',
    // For the job that removes widget threads without a message.
    `create index threads_minted_and_empty on threads (created_at)
      where channel = 'widget' and last_message_at is null and deleted_at is null`,

    /**
     * `approvals` has a run's requests for approval, which the next run answers, with decisions or with a message.
     *
     * `kept_results` are results of tools with images and files in base64, for the run that resumes this one, which removes
     * them. They are not in the messages, so that histories are read without them. `continuation` is what that run takes over.
     *
     * `session_id` and `session_user_key`, the web session and its user, are for the process that ends the run of a dead one.
     */
    `create table runs (
      id uuid primary key,
      organization_id uuid not null,
      thread_id uuid not null references threads (id) on delete cascade,
      agent_id uuid not null,
      owner_id uuid not null,
      message_id uuid not null,
      status text not null
        check (status in ('running', 'completed', 'requires_action', 'failed', 'cancelled', 'timed_out')),
      error jsonb,
      cancel_requested_at timestamptz,
      user_context jsonb,
      provider text not null,
      model text not null,
      use_own_api_key boolean not null,
      input_tokens bigint,
      output_tokens bigint,
      credits double precision not null default 0,
      stop_reason text,
      created_at timestamptz not null,
      completed_at timestamptz,
      approvals jsonb not null default '[]',
      decisions jsonb,
      answers_run_id uuid,
      kept_results jsonb,
      session_id uuid,
      session_user_key uuid,
      cached_input_tokens bigint,
      continuation jsonb
    )`,
    `create unique index runs_one_running_a_thread on runs (thread_id) where status = 'running'`,
    `create index runs_running_by_owner on runs (owner_id) where status = 'running'`,
    // Allows only one run to answer a run's requests, even when two have read the same `threads.awaiting_run_id`.
    'create unique index runs_answer_a_run_once on runs (answers_run_id) where answers_run_id is not null',
    // For the lists of runs, the newest first. Those with a status that few runs have use the partial indexes, which cost a run
    // that completes nothing.
    'create index runs_by_organization on runs (organization_id, created_at, id)',
    'create index runs_by_thread_and_time on runs (thread_id, created_at, id)',
    // For the count of a session's turns.
    'create index runs_by_session on runs (session_id) where session_id is not null',
    // For the job that removes what no run has taken.
    `create index runs_with_input_for_next on runs (completed_at)
      where kept_results is not null or continuation is not null`,
    // For the job that re-keys users of earlier releases; it is empty once all are re-keyed.
    `create index runs_of_bare_users on runs (organization_id, session_user_key) where ${isBareUser('session_user_key')}`,

    /**
     * The sizes of a message, in bytes, let a page end before it is too large without reading the messages: what clients always
     * see, its tool calls, what only models read, the contexts that hooks add to a user's message, and the response components
     * of a reply.
     */
    `create table messages (
      id uuid primary key,
      seq bigint generated always as identity,
      organization_id uuid not null,
      thread_id uuid not null references threads (id) on delete cascade,
      run_id uuid,
      role text not null check (role in ('user', 'assistant')),
      content text not null,
      status text not null check (status in ('completed', 'incomplete', 'failed')),
      blocked boolean not null default false,
      reaction jsonb,
      tool_calls jsonb not null default '[]',
      transcript jsonb not null default '[]',
      created_at timestamptz not null,
      attachments jsonb not null default '[]',
      shown_bytes bigint not null generated always as (
        octet_length(content)::bigint + octet_length(attachments::text) + coalesce(octet_length(reaction::text), 0)
      ) stored,
      tool_bytes bigint not null generated always as (octet_length(tool_calls::text)) stored,
      transcript_bytes bigint not null generated always as (octet_length(transcript::text)) stored,
      additional_context jsonb,
      context_bytes bigint not null default 0,
      components jsonb not null default '[]',
      component_bytes bigint not null default 2,
      client_id text
    )`,
    'create index messages_by_thread on messages (thread_id, seq desc)',
    // For the job that removes files.
    `create index messages_by_attachment on messages using gin (attachments jsonb_path_ops)
      where attachments <> '[]'::jsonb`,
    // For the counts of reactions.
    'create index messages_by_reaction on messages (organization_id, created_at) where reaction is not null',

    `create table idempotency_keys (
      organization_id uuid not null references organizations (id) on delete cascade,
      operation text not null,
      key text not null,
      fingerprint text not null,
      resource_id uuid not null,
      created_at timestamptz not null,
      primary key (organization_id, operation, key)
    )`,
    'create index idempotency_keys_by_age on idempotency_keys (created_at)',
  ],
};
