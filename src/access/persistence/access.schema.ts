import { defineEntity, p } from '@mikro-orm/core';
import { type ContextSchema, migration } from '../../platform/database/index.js';
import { ApiKey } from '../domain/api-key.js';
import { CreditAllowance } from '../domain/credit-allowance.js';
import { Member } from '../domain/member.js';
import { Organization } from '../domain/organization.js';

const organizations = defineEntity({
  class: Organization,
  tableName: 'organizations',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    plan: p.text(),
    features: p.array().columnType('text[]'),
    agentLimit: p.integer().nullable(),
    crawlPages: p.integer(),
    creditsIncluded: p.integer().nullable(),
    creditsExhausted: p.text(),
    hipaaUntil: p.datetime(3).nullable(),
    retainDays: p.integer().nullable(),
    createdAt: p.datetime(3),
  },
});

const creditAllowances = defineEntity({
  class: CreditAllowance,
  tableName: 'credit_allowances',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    since: p.datetime(3),
    included: p.integer().nullable(),
  },
});

const members = defineEntity({
  class: Member,
  tableName: 'members',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    email: p.text(),
    role: p.text(),
    createdAt: p.datetime(3),
  },
});

const apiKeys = defineEntity({
  class: ApiKey,
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    memberId: p.uuid(),
    name: p.text(),
    capabilities: p.array().columnType('text[]'),
    agentIds: p.array().columnType('uuid[]').nullable(),
    digest: p.blob().columnType('bytea'),
    last4: p.text().fieldName('last4'),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
  },
});

export const accessSchema: ContextSchema = {
  entities: [organizations, creditAllowances, members, apiKeys],
  base: [
    `create table organizations (
      id uuid primary key,
      name text not null,
      plan text not null,
      features text[] not null,
      agent_limit integer,
      created_at timestamptz(3) not null,
      crawl_pages integer not null default 500,
      credits_included integer check (credits_included >= 0),
      credits_exhausted text not null default 'allow' check (credits_exhausted in ('allow', 'block')),
      hipaa_until timestamptz(3)
    )`,
    // A trigger instead of a foreign key: the vault belongs to the platform, whose tables refer to no context.
    `create function remove_secrets_of_organization() returns trigger language plpgsql as $$
    begin
      delete from secrets where organization_id = old.id;
      return null;
    end $$`,
    `create trigger organization_removed after delete on organizations
      for each row execute function remove_secrets_of_organization()`,
    `create table members (
      id uuid primary key,
      organization_id uuid not null references organizations (id) on delete cascade,
      email text not null,
      role text not null check (role in ('owner', 'admin', 'member')),
      created_at timestamptz(3) not null,
      constraint members_email_unique unique (organization_id, email),
      constraint members_organization_unique unique (organization_id, id)
    )`,
    // The pair of columns keeps a key from ever naming a member of another organization.
    `create table api_keys (
      id uuid primary key,
      organization_id uuid not null,
      member_id uuid not null,
      name text not null,
      capabilities text[] not null check (cardinality(capabilities) > 0),
      agent_ids uuid[] check (cardinality(agent_ids) > 0),
      digest bytea not null constraint api_keys_digest_unique unique,
      last4 text not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      last_used_at timestamptz(3),
      foreign key (organization_id, member_id) references members (organization_id, id) on delete cascade
    )`,
    'create index api_keys_organization on api_keys (organization_id, id)',
    // The history of `credits_included`, because a change must not affect past months.
    `create table credit_allowances (
      id uuid primary key,
      organization_id uuid not null references organizations (id) on delete cascade,
      since timestamptz(3) not null,
      included integer
    )`,
    'create index credit_allowances_organization on credit_allowances (organization_id, since, id)',
  ],
  migrations: [
    migration('2026112941_access_retain_days', [
      'alter table organizations add column retain_days integer check (retain_days > 0)',
    ]),
  ],
};
