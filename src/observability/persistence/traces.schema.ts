import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import {
  callerSpan,
  type Channel,
  isBareUser,
  runError,
  type RunStatus,
  type UserContext,
} from '../../conversations/index.js';
import { type ContextSchema, CustomerJson, JsonDocument } from '../../platform/database/index.js';
import { traceStep } from '../domain/trace.js';

export const STEPS = new JsonDocument('traces.steps', z.array(traceStep));
export const TRACE_ERROR = new JsonDocument('traces.error', runError);
export const CALLER_SPAN = new JsonDocument('traces.caller_span', callerSpan);
export const TRACE_USER_CONTEXT = new CustomerJson<UserContext | null>('traces.user_context');
/** A histogram: counts by bucket number. */
const bucketCounts = z.record(z.string(), z.number());
export const DURATIONS = new JsonDocument('agent_usage.durations', bucketCounts);
export const FIRST_TOKENS = new JsonDocument('agent_usage.first_tokens', bucketCounts);

export const traces = defineEntity({
  name: 'StoredTrace',
  tableName: 'traces',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    threadId: p.uuid(),
    messageId: p.uuid().strictNullable(),
    channel: p.text().$type<Channel>(),
    provider: p.text(),
    model: p.text(),
    status: p.text().$type<RunStatus>(),
    startedAt: p.datetime(3),
    latencyMs: p.bigint('number'),
    timeToFirstTokenMs: p.bigint('number').strictNullable(),
    inputTokens: p.bigint('number').strictNullable(),
    outputTokens: p.bigint('number').strictNullable(),
    /** Null in traces of earlier releases. */
    cachedInputTokens: p.bigint('number').strictNullable(),
    credits: p.double().$type<number>(),
    input: p.text(),
    output: p.text(),
    steps: STEPS.property(),
    error: TRACE_ERROR.property().strictNullable(),
    userContext: TRACE_USER_CONTEXT.property().strictNullable(),
    endedAt: p.datetime(3),
    /** Approximate size as JSON, which limits a page of an export without reading the traces. */
    storedBytes: p.bigint('number'),
    /** The key of the run's user, made by `UserKeys`: users are counted without storing their names. */
    userKey: p.uuid().strictNullable(),
    /** The parent of the run's span, in the caller's trace. */
    callerSpan: CALLER_SPAN.property().strictNullable(),
    /** When the trace was counted and became exportable; null before that. */
    publishedAt: p.datetime(3).strictNullable(),
    /** The trace never leaves the service: the organization handled HIPAA data when it was published. */
    withheld: p.boolean(),
  },
});

/** The usage of suggestions that is not in `agent_usage` yet. Suggestions are not runs, so they have no trace. */
export const suggestionUsage = defineEntity({
  name: 'StoredSuggestionUsage',
  tableName: 'suggestion_usage',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    startedAt: p.datetime(3),
    inputTokens: p.bigint('number').strictNullable(),
    outputTokens: p.bigint('number').strictNullable(),
    credits: p.double().$type<number>(),
  },
});

/**
 * A trace is deleted with its thread, and so with its agent, because it holds the text of the conversation. None of these tables
 * references `agents`: the transaction that ends a run would wait for a transaction that changes the agent. A job deletes the rows of
 * deleted agents.
 *
 * Durations are `bigint`, because a run that is found orphaned after months has lasted that long.
 */
const tracesTable = [
  `create table traces (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null,
    thread_id uuid not null references threads (id) on delete cascade,
    message_id uuid,
    channel text not null,
    provider text not null,
    model text not null,
    status text not null,
    started_at timestamptz(3) not null,
    latency_ms bigint not null,
    time_to_first_token_ms bigint,
    input_tokens bigint,
    output_tokens bigint,
    credits double precision not null,
    input text not null,
    output text not null,
    steps jsonb not null,
    error jsonb,
    user_context jsonb,
    ended_at timestamptz(3) not null,
    stored_bytes bigint not null,
    user_key uuid,
    published_at timestamptz(3),
    withheld boolean not null default false,
    caller_span jsonb,
    cached_input_tokens bigint
  )`,
  'create index traces_by_agent on traces (agent_id, started_at desc, id desc)',
  'create index traces_by_thread on traces (thread_id, started_at desc, id desc)',
  'create index traces_by_message on traces (message_id) where message_id is not null',
  'create index traces_by_age on traces (started_at)',
  'create index traces_unpublished on traces (ended_at) where published_at is null',
  'create index traces_unpublished_by_agent on traces (agent_id, started_at) where published_at is null',
  // For the job that replaces user keys of earlier releases; it is empty after that.
  `create index traces_of_bare_users on traces (organization_id, user_key) where ${isBareUser('user_key')}`,
];

/**
 * For `PublishTraces`, which counts each trace once.
 *
 * `trace_counts` holds numbers of traces of an agent by the hour of their start, to be added up: rows are only added and merged, so that
 * a transaction that deletes traces never waits for one that publishes others. A trace counts from its publication to its deletion. The
 * trigger also sees traces that are deleted with their thread. A trace that is deleted before its publication leaves its usage in
 * `removed_runs`.
 */
const publishing = [
  `create table trace_counts (
    organization_id uuid not null,
    agent_id uuid not null,
    hour timestamptz not null,
    traces bigint not null,
    replies bigint not null
  )`,
  'create index trace_counts_by_agent on trace_counts (agent_id, hour)',
  'create index trace_counts_by_age on trace_counts (hour)',
  `create table removed_runs (
    organization_id uuid not null,
    agent_id uuid not null,
    started_at timestamptz(3) not null,
    status text not null,
    input_tokens bigint,
    output_tokens bigint,
    credits double precision not null,
    latency_ms bigint not null,
    time_to_first_token_ms bigint
  )`,
  'create index removed_runs_by_agent on removed_runs (agent_id, started_at)',
  `create function count_removed_traces() returns trigger language plpgsql as $$
   begin
     insert into trace_counts (organization_id, agent_id, hour, traces, replies)
     select organization_id, agent_id, date_trunc('hour', started_at, 'UTC'), -count(*), -count(message_id)
     from removed where published_at is not null group by 1, 2, 3;
     insert into removed_runs (organization_id, agent_id, started_at, status, input_tokens, output_tokens, credits, latency_ms, time_to_first_token_ms)
     select organization_id, agent_id, started_at, status, input_tokens, output_tokens, credits, latency_ms, time_to_first_token_ms
     from removed where published_at is null;
     return null;
   end $$`,
  `create trigger traces_removed after delete on traces referencing old table as removed
     for each statement execute function count_removed_traces()`,
  `create table agent_usage (
    organization_id uuid not null,
    agent_id uuid not null,
    width text not null check (width in ('hour', 'day')),
    bucket_start timestamptz not null,
    runs bigint not null,
    failed bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    credit_units bigint not null,
    duration_p50 bigint,
    duration_p95 bigint,
    first_token_p50 bigint,
    first_token_p95 bigint,
    durations jsonb not null,
    first_tokens jsonb not null,
    primary key (agent_id, width, bucket_start)
  )`,
  'create index agent_usage_by_age on agent_usage (bucket_start)',
  `create table agent_users (
    organization_id uuid not null,
    agent_id uuid not null,
    day timestamptz not null,
    user_key uuid not null,
    primary key (agent_id, day, user_key)
  )`,
  'create index agent_users_by_age on agent_users (day)',
  // For the job that replaces user keys of earlier releases; it is empty after that.
  `create index agent_users_of_bare_users on agent_users (organization_id, user_key) where ${isBareUser('user_key')}`,
  `create table suggestion_usage (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null,
    started_at timestamptz(3) not null,
    input_tokens bigint,
    output_tokens bigint,
    credits double precision not null
  )`,
  'create index suggestion_usage_by_agent on suggestion_usage (agent_id, started_at)',
];

export const tracesSchema: ContextSchema = {
  entities: [traces, suggestionUsage],
  documents: [DURATIONS, FIRST_TOKENS],
  base: [...tracesTable, ...publishing],
};
