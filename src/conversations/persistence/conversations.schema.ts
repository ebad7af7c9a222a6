import { migration, type ContextSchema } from '../../platform/database/index.js';
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

export const conversationsSchema: ContextSchema = {
  entities: [threads, messages, runs, idempotencyKeys],
  documents: [ADDITIONAL_CONTEXT, CONTINUATION, KEPT_RESULTS],
  migrations: [
    /**
     * Messages and runs are deleted with their thread. `messages.seq` is the order of a conversation: the runs of a thread
     * do not overlap, and clocks that differ between processes do not matter. `threads.external_id` is the client's own id
     * of a thread, unique for the agent.
     */
    migration('2026112103_conversations_init', [
      `create table run_owners (
    id uuid primary key,
    started_at timestamptz not null default now(),
    heartbeat_at timestamptz not null default now()
  )`,
      `create table threads (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null references agents (id) on delete cascade,
    title text,
    channel text not null check (channel in ('api', 'widget')),
    metadata jsonb not null default '{}',
    external_id text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    last_message_at timestamptz,
    activity_at timestamptz not null generated always as (coalesce(last_message_at, created_at)) stored
  )`,
      `create index threads_by_activity on threads (organization_id, activity_at desc, id desc)`,
      `create unique index threads_by_external_id on threads (agent_id, external_id) where external_id is not null`,
      `create index threads_by_agent on threads (agent_id, activity_at desc, id desc)`,
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
    completed_at timestamptz
  )`,
      `create unique index runs_one_running_a_thread on runs (thread_id) where status = 'running'`,
      `create index runs_running_by_owner on runs (owner_id) where status = 'running'`,
      `create index runs_by_thread on runs (thread_id)`,
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
    created_at timestamptz not null
  )`,
      `create index messages_by_thread on messages (thread_id, seq desc)`,
      `create table idempotency_keys (
    organization_id uuid not null references organizations (id) on delete cascade,
    operation text not null,
    key text not null,
    fingerprint text not null,
    resource_id uuid not null,
    created_at timestamptz not null,
    primary key (organization_id, operation, key)
  )`,
      `create index idempotency_keys_by_age on idempotency_keys (created_at)`,
    ]),

    /**
     * `runs.approvals` has a run's requests for approval; `threads.awaiting_run_id` is the run whose requests are open. The
     * next run answers them, with decisions or with a message. The unique index allows only one such run, even when two
     * have read the same pointer.
     */
    migration('2026112108_conversations_approvals', [
      `alter table runs
     add column approvals jsonb not null default '[]',
     add column decisions jsonb,
     add column answers_run_id uuid`,
      `create unique index runs_answer_a_run_once on runs (answers_run_id) where answers_run_id is not null`,
      `alter table threads add column awaiting_run_id uuid`,
    ]),

    /** The partial index serves the job that removes files. */
    migration('2026112109_conversations_attachments', [
      `alter table messages add column attachments jsonb not null default '[]'`,
      `create index messages_by_attachment on messages using gin (attachments jsonb_path_ops)
     where attachments <> '[]'::jsonb`,
    ]),

    /** Incremented by every statement that adds messages or changes what models read of them. */
    migration('2026112110_conversations_thread_revision', [
      'alter table threads add column revision bigint not null default 0',
    ]),

    /**
     * Sizes of a message in bytes, so that a page can end before it is too large without reading the messages: what clients
     * always see, its tool calls, and what only models read.
     */
    migration('2026112114_conversations_message_sizes', [
      `alter table messages
     add column shown_bytes bigint not null generated always as (
       octet_length(content)::bigint + octet_length(attachments::text) + coalesce(octet_length(reaction::text), 0)
     ) stored,
     add column tool_bytes bigint not null generated always as (octet_length(tool_calls::text)) stored,
     add column transcript_bytes bigint not null generated always as (octet_length(transcript::text)) stored`,
    ]),

    /**
     * A large thread, and every thread of a deleted agent, is deleted in two steps: `deleted_at`, or the absence of the
     * agent, hides it from every reader, then a job removes its rows in small batches. So there is no foreign key to the
     * agent. The partial index serves the job.
     */
    migration('2026112117_conversations_deletion', [
      'alter table threads drop constraint threads_agent_id_fkey, add column deleted_at timestamptz',
      'create index threads_deleted on threads (id) where deleted_at is not null',
    ]),

    /**
     * Results of tools with images and files in base64, for the run that resumes this one, which removes them. Not in the
     * messages, so that histories are read without them.
     */
    migration('2026112218_conversations_kept_results', ['alter table runs add column kept_results jsonb']),

    /** The partial index serves the job that removes old results. */
    migration('2026112219_conversations_kept_results_by_age', [
      'create index runs_with_kept_results on runs (completed_at) where kept_results is not null',
    ]),

    /** Changes after each gap in the heartbeats of a process: see `BEAT`. */
    migration('2026112220_conversations_owner_contact', [
      'alter table run_owners add column contact uuid not null default gen_random_uuid()',
    ]),

    /** The contexts that hooks add to a user's message, and their size in bytes. */
    migration('2026112392_conversations_additional_context', [
      'alter table messages add column additional_context jsonb, add column context_bytes bigint not null default 0',
    ]),

    /** The partial index serves the counts of reactions. */
    migration('2026112421_conversations_reactions', [
      'create index messages_by_reaction on messages (organization_id, created_at) where reaction is not null',
    ]),

    /** The response components of a reply, and their size in bytes. */
    migration('2026112501_conversations_components', [
      `alter table messages add column components jsonb not null default '[]', add column component_bytes bigint not null default 2`,
    ]),

    /**
     * The web session of a run and its user, for the process that ends the run of a dead one. The partial index serves the
     * count of a session's turns.
     */
    migration('2026112601_conversations_run_sessions', [
      'alter table runs add column session_id uuid, add column session_user_key uuid',
      'create index runs_by_session on runs (session_id) where session_id is not null',
    ]),

    /** The partial index serves the job that removes widget threads without a message. */
    migration('2026112602_conversations_empty_widget_threads', [
      `create index threads_minted_and_empty on threads (created_at)
     where channel = 'widget' and last_message_at is null and deleted_at is null`,
    ]),

    /** The partial index serves the job that re-keys users of earlier releases; it is empty once all are re-keyed. */
    migration('2026112721_conversations_bare_users', [
      `create index runs_of_bare_users on runs (organization_id, session_user_key) where ${isBareUser('session_user_key')}`,
    ]),

    /** The client's own ids of users' messages. */
    migration('2026112725_conversations_client_ids', ['alter table messages add column client_id text']),

    /** The part of `input_tokens` that the provider read from its cache; null in runs of earlier releases. */
    migration('2026112741_conversations_cached_tokens', ['alter table runs add column cached_input_tokens bigint']),

    /** What the run that resumes this one takes over. The partial index serves the job that removes what no run has taken. */
    migration('2026112810_conversations_continuation', [
      'alter table runs add column continuation jsonb',
      `create index runs_with_input_for_next on runs (completed_at)
     where kept_results is not null or continuation is not null`,
      'drop index runs_with_kept_results',
    ]),

    /**
     * Lists of runs, the newest first: of an organization, of an agent, of a thread, and those with a status that few runs
     * have. The partial indexes cost a run that completes nothing. `threads_awaiting` serves the lists of open requests.
     */
    migration('2026112820_conversations_run_lists', [
      'create index runs_by_organization on runs (organization_id, created_at, id)',
      'create index runs_by_thread_and_time on runs (thread_id, created_at, id)',
      'drop index runs_by_thread',
      `create index threads_awaiting on threads (organization_id, awaiting_run_id) where awaiting_run_id is not null`,
    ]),
  ],
};
