import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type ColumnsOf, type ContextSchema, migration, queryBuilder, StorableJson } from '../../platform/database/index.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import type { SessionStartHook, ThreadSession } from '../domain/session-start.js';

/** Under what the values of a document's headers are in the vault. */
export interface StoredHeaders {
  /** Another one after each write. */
  readonly id: string;
  readonly pieces: number;
}

/** What an agent has of hooks. The row is there from the first write on; secrets are in the vault. */
export const StoredAgentHooks = defineEntity({
  name: 'StoredAgentHooks',
  tableName: 'agent_hooks',
  properties: {
    agentId: p.uuid().primary(),
    organizationId: p.uuid(),
    document: p.type(StorableJson).$type<HooksDocument>(),
    headers: p.type(StorableJson).$type<StoredHeaders>().strictNullable(),
    sessionStart: p.type(StorableJson).$type<SessionStartHook>().strictNullable(),
    /** When the signing secret was made; null while there is none. */
    secretCreatedAt: p.datetime(3).strictNullable(),
  },
});
export type StoredAgentHooks = InferEntity<typeof StoredAgentHooks>;

export const tables = queryBuilder<{ agent_hooks: ColumnsOf<typeof StoredAgentHooks> }>();

/** The start of a thread: claimed by the run that sees to it, and then what came of it. */
export const StoredThreadSession = defineEntity({
  name: 'StoredThreadSession',
  tableName: 'thread_sessions',
  properties: {
    threadId: p.uuid().primary(),
    organizationId: p.uuid(),
    runId: p.uuid(),
    /** Until then the run may still be at it. */
    expiresAt: p.datetime(3),
    /** Null while it is not over. */
    session: p.type(StorableJson).$type<ThreadSession>().strictNullable(),
  },
});

const init = migration('2026112393_hooks_init', [
  `create table agent_hooks (
    agent_id uuid primary key references agents (id) on delete cascade,
    organization_id uuid not null,
    document jsonb not null,
    headers jsonb,
    session_start jsonb,
    secret_created_at timestamptz(3)
  )`,
  `create table thread_sessions (
    thread_id uuid primary key references threads (id) on delete cascade,
    organization_id uuid not null,
    run_id uuid not null,
    expires_at timestamptz(3) not null,
    session jsonb
  )`,
]);

export const hooksSchema: ContextSchema = { entities: [StoredAgentHooks, StoredThreadSession], migrations: [init] };
