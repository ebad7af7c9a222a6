import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { type ContextSchema, JsonDocument } from '../../platform/database/index.js';
import type { Stored } from '../../platform/stored-json/index.js';
import { hooksDocument } from '../domain/hooks-document.js';
import { sessionStartHook, threadSession } from '../domain/session-start.js';

/** Where the vault has the values of a document's headers. */
const storedHeaders = z.object({
  /** New with each write. */
  id: z.string(),
  pieces: z.number(),
});
export type StoredHeaders = Stored<typeof storedHeaders>;

export const SESSION = new JsonDocument('thread_sessions.session', threadSession);

/** The hooks of an agent, from the first write on. Secrets are in the vault. */
export const StoredAgentHooks = defineEntity({
  name: 'StoredAgentHooks',
  tableName: 'agent_hooks',
  properties: {
    agentId: p.uuid().primary(),
    organizationId: p.uuid(),
    document: new JsonDocument('agent_hooks.document', hooksDocument).property(),
    headers: new JsonDocument('agent_hooks.headers', storedHeaders).property().strictNullable(),
    sessionStart: new JsonDocument('agent_hooks.session_start', sessionStartHook).property().strictNullable(),
    /** Null when the agent has no signing secret. */
    secretCreatedAt: p.datetime(3).strictNullable(),
  },
});

const base = [
  `create table agent_hooks (
    agent_id uuid primary key references agents (id) on delete cascade,
    organization_id uuid not null,
    document jsonb not null,
    headers jsonb,
    session_start jsonb,
    secret_created_at timestamptz(3)
  )`,
  // The start of a thread: the run that claimed it and may work on it until `expires_at`, and later the outcome.
  `create table thread_sessions (
    thread_id uuid primary key references threads (id) on delete cascade,
    organization_id uuid not null,
    run_id uuid not null,
    expires_at timestamptz(3) not null,
    session jsonb
  )`,
];

export const hooksSchema: ContextSchema = { entities: [StoredAgentHooks], documents: [SESSION], base };
