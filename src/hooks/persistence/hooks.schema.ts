import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import {
  type ColumnsOf,
  type ContextSchema,
  JsonDocument,
  migration,
  queryBuilder,
} from '../../platform/database/index.js';
import type { Stored } from '../../platform/stored-json/index.js';
import { hooksDocument } from '../domain/hooks-document.js';
import { sessionStartHook, threadSession } from '../domain/session-start.js';

/** Under what the values of a document's headers are in the vault. */
const storedHeaders = z.object({
  /** Another one after each write. */
  id: z.string(),
  pieces: z.number(),
});
export type StoredHeaders = Stored<typeof storedHeaders>;

export const SESSION = new JsonDocument('thread_sessions.session', threadSession);

/** What an agent has of hooks. The row is there from the first write on; secrets are in the vault. */
export const StoredAgentHooks = defineEntity({
  name: 'StoredAgentHooks',
  tableName: 'agent_hooks',
  properties: {
    agentId: p.uuid().primary(),
    organizationId: p.uuid(),
    document: new JsonDocument('agent_hooks.document', hooksDocument).property(),
    headers: new JsonDocument('agent_hooks.headers', storedHeaders).property().strictNullable(),
    sessionStart: new JsonDocument('agent_hooks.session_start', sessionStartHook).property().strictNullable(),
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
    session: SESSION.property().strictNullable(),
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
