import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { grantProperties, signInProperties } from '../../platform/oauth/index.js';

/** The grant of an integration's server. The tokens are in the vault. */
export const StoredOAuthGrant = defineEntity({
  name: 'StoredOAuthGrant',
  tableName: 'oauth_grants',
  properties: {
    ...grantProperties('integration_id'),
    /** The address that the grant is valid for. */
    serverUrl: p.text(),
    issuer: p.text(),
    scope: p.text().strictNullable(),
    /** Permissions that calls lacked since the sign-in. The next sign-in requests them. */
    neededScope: p.text().strictNullable(),
    /** Changes with every sign-in. */
    version: p.uuid(),
    /** When the tokens of this generation were received. */
    receivedAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});
export type StoredOAuthGrant = InferEntity<typeof StoredOAuthGrant>;

export const StoredOAuthSignIn = defineEntity({
  name: 'StoredOAuthSignIn',
  tableName: 'oauth_sign_ins',
  properties: {
    ...signInProperties('integration_id'),
    serverUrl: p.text(),
  },
});
export type StoredOAuthSignIn = InferEntity<typeof StoredOAuthSignIn>;

/** They refer to the table of integrations. */
export const oauthTables = [
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
];
