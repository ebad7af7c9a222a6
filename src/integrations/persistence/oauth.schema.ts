import { defineEntity, p } from '@mikro-orm/core';
import { type ContextSchema, migration } from '../../platform/database/index.js';

/** What an integration's server has granted; the tokens are in the vault. */
export const StoredOAuthGrant = defineEntity({
  name: 'StoredOAuthGrant',
  tableName: 'oauth_grants',
  properties: {
    integrationId: p.uuid().primary(),
    organizationId: p.uuid(),
    serverUrl: p.text(),
    issuer: p.text(),
    status: p.text().$type<'authorized' | 'gone'>(),
    scope: p.text().nullable(),
    /** What calls lacked since the sign-in. */
    neededScope: p.text().nullable(),
    /** Another one with every sign-in, and when the grant is gone. */
    version: p.uuid(),
    /** Another one with every set of tokens. */
    generation: p.uuid(),
    receivedAt: p.datetime(3),
    expiresAt: p.datetime(3).nullable(),
    refreshAt: p.datetime(3).nullable(),
    /** Whose refresh is under way, and until when it counts. */
    refreshLease: p.uuid().nullable(),
    refreshingUntil: p.datetime(3).nullable(),
    updatedAt: p.datetime(3),
  },
});

/** A sign-in that somebody has begun; its secrets are in the vault, under the digest. */
export const StoredOAuthSignIn = defineEntity({
  name: 'StoredOAuthSignIn',
  tableName: 'oauth_sign_ins',
  properties: {
    stateDigest: p.text().primary(),
    organizationId: p.uuid(),
    integrationId: p.uuid(),
    serverUrl: p.text(),
    redirectUrl: p.text(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
});

const oauth = migration('2026112211_integrations_oauth', [
  `create table oauth_grants (
    integration_id uuid primary key references tool_integrations (id) on delete cascade,
    organization_id uuid not null references organizations (id),
    server_url text not null,
    issuer text not null,
    status text not null check (status in ('authorized', 'gone')),
    scope text,
    needed_scope text,
    version uuid not null,
    generation uuid not null,
    received_at timestamptz(3) not null,
    expires_at timestamptz(3),
    refresh_at timestamptz(3),
    refresh_lease uuid,
    refreshing_until timestamptz(3),
    updated_at timestamptz(3) not null
  )`,
  `create table oauth_sign_ins (
    state_digest text primary key,
    organization_id uuid not null references organizations (id),
    integration_id uuid not null references tool_integrations (id) on delete cascade,
    server_url text not null,
    redirect_url text not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null
  )`,
  'create index oauth_sign_ins_of_integration on oauth_sign_ins (integration_id, created_at)',
  'create index oauth_sign_ins_by_expiry on oauth_sign_ins (expires_at)',
]);

/** Its migration refers to the table of the integrations, and so comes after that one's. */
export const oauthSchema: ContextSchema = {
  entities: [StoredOAuthGrant, StoredOAuthSignIn],
  migrations: [oauth],
};
