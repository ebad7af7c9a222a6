import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type ContextSchema, migration } from '../../platform/database/index.js';

export const sessions = defineEntity({
  name: 'StoredSession',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    threadId: p.uuid(),
    apiKeyId: p.uuid(),
    tokenDigest: p.text(),
    endUserSalt: p.text().strictNullable(),
    endUserDigest: p.text().strictNullable(),
    userKey: p.uuid().strictNullable(),
    createdAt: p.datetime(6),
    expiresAt: p.datetime(6),
    renewals: p.integer(),
  },
});
export type StoredSession = InferEntity<typeof sessions>;

/** A key that signs passes; what signs is in the vault. */
export const signingKeys = defineEntity({
  name: 'SigningKey',
  tableName: 'session_signing_keys',
  properties: {
    /** `kid` of the passes. */
    id: p.uuid().primary(),
    /** SPKI in PEM. */
    publicKey: p.text(),
    createdAt: p.datetime(6),
    /** From then on it signs, until a later one does. */
    signsFrom: p.datetime(6),
  },
});
export type SigningKey = InferEntity<typeof signingKeys>;

/**
 * No foreign key leads to agent or thread: a session outlives them until it expires, so that its resume token is
 * answered with what is missing. The second index is for agents that are gone, whose sessions forget their users.
 */
const init = migration('2026112603_sessions_init', [
  `create table sessions (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null,
    thread_id uuid not null,
    api_key_id uuid not null,
    token_digest text not null unique,
    end_user_salt text,
    end_user_digest text,
    user_key uuid,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    renewals integer not null default 0
  )`,
  'create index sessions_by_expiry on sessions (expires_at)',
  'create index sessions_with_user_by_agent on sessions (agent_id) where end_user_digest is not null',
  `create table session_signing_keys (
    id uuid primary key,
    public_key text not null,
    created_at timestamptz not null,
    signs_from timestamptz not null
  )`,
]);

export const sessionsSchema: ContextSchema = { entities: [sessions, signingKeys], migrations: [init] };
