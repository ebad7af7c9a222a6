import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { isBareUser } from '../../conversations/index.js';
import type { ContextSchema } from '../../platform/database/index.js';

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
    /** Made by `UserKeys` from `endUser`. */
    userKey: p.uuid().strictNullable(),
    createdAt: p.datetime(6),
    expiresAt: p.datetime(6),
    renewals: p.integer(),
  },
});

/** The public half of a key that signs passes. The private key is in the vault. */
export const signingKeys = defineEntity({
  name: 'SigningKey',
  tableName: 'session_signing_keys',
  properties: {
    /** The `kid` of its passes. */
    id: p.uuid().primary(),
    /** SPKI in PEM. */
    publicKey: p.text(),
    createdAt: p.datetime(6),
    /** It signs from this time until a later key does. */
    signsFrom: p.datetime(6),
  },
});
export type SigningKey = InferEntity<typeof signingKeys>;

/**
 * No foreign key leads to agent or thread: a session outlives them until it expires, so that the answer to its resume token can say
 * which of them is missing. A job removes the users of sessions of deleted agents, which the indexes by agent find.
 *
 * `endUser` is recognized by `user_key` alone. `salted_end_users`, `end_user_salt` and `end_user_digest` are for processes of the
 * former release.
 */
const base = [
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
  'create index sessions_with_user_key_by_agent on sessions (agent_id) where user_key is not null',
  // For the job that re-keys users of earlier releases; it is empty once all are re-keyed.
  `create index sessions_of_bare_users on sessions (organization_id, user_key) where ${isBareUser('user_key')}`,
  'create table salted_end_users (needed_until timestamptz not null)',
  'insert into salted_end_users values (now())',
  `create table session_signing_keys (
    id uuid primary key,
    public_key text not null,
    created_at timestamptz not null,
    signs_from timestamptz not null
  )`,
];

export const sessionsSchema: ContextSchema = { entities: [sessions, signingKeys], base };
