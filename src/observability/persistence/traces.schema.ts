import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Channel, RunError, RunStatus, UserContext } from '../../conversations/index.js';
import { type ContextSchema, migration } from '../../platform/database/index.js';
import type { TraceStep } from '../domain/trace.js';

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
    credits: p.double().$type<number>(),
    input: p.text(),
    output: p.text(),
    steps: p.json<readonly TraceStep[]>(),
    error: p.json<RunError>().strictNullable(),
    userContext: p.json<UserContext>().strictNullable(),
  },
});
export type StoredTrace = InferEntity<typeof traces>;

/**
 * A trace goes with its thread, and so with its agent: the text of a deleted conversation must not live
 * on here. There is no reference to `agents` beside that one: the transaction that ends a run would
 * then wait for whoever is changing the agent.
 *
 * Durations are `bigint`, as a run that was found orphaned after months has lasted that long.
 */
const init = migration('2026112104_observability_init', [
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
    user_context jsonb
  )`,
  'create index traces_by_agent on traces (agent_id, started_at desc, id desc)',
  'create index traces_by_thread on traces (thread_id, started_at desc, id desc)',
  'create index traces_by_message on traces (message_id) where message_id is not null',
  'create index traces_by_age on traces (started_at)',
]);

export const tracesSchema: ContextSchema = { entities: [traces], migrations: [init] };
