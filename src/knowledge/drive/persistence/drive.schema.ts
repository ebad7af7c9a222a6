import type { ContextSchema } from '../../../platform/database/index.js';
import {
  StoredDriveGrant,
  StoredDriveItem,
  StoredDriveSignIn,
  StoredDriveSource,
  StoredServiceAccount,
} from './drive.entities.js';

/** No foreign key to the agent, because its documents are removed in batches. */
const base = [
  `create table drive_service_accounts (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    client_email text not null,
    project_id text not null,
    added_by uuid not null,
    created_at timestamptz(3) not null,
    unique (organization_id, client_email)
  )`,
  `create table drive_sources (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null,
    kind text not null check (kind in ('service_account', 'sign_in')),
    account_id uuid references drive_service_accounts (id),
    files jsonb not null,
    state text not null,
    last_successful_sync_at timestamptz(3),
    last_error text,
    started_at timestamptz(3) not null,
    sync_id uuid not null,
    phase text not null check (phase in ('begin', 'changes', 'work')),
    is_full boolean not null,
    is_truncated boolean not null,
    change_token text,
    change_pages integer not null,
    stalls integer not null,
    lease uuid,
    due_at timestamptz(3) not null,
    next_sync_at timestamptz(3) not null,
    removed_at timestamptz(3)
  )`,
  'create unique index drive_sources_of_agent on drive_sources (agent_id, kind) where removed_at is null',
  'create index drive_sources_of_account on drive_sources (account_id)',
  "create index drive_sources_overdue on drive_sources (due_at) where state = 'IN_PROGRESS'",
  "create index drive_sources_next on drive_sources (next_sync_at) where state <> 'IN_PROGRESS'",
  `create table drive_items (
    source_id uuid not null references drive_sources (id) on delete cascade,
    organization_id uuid not null,
    file_id text not null,
    kind text not null check (kind in ('unknown', 'file', 'folder', 'shortcut')),
    via text not null check (via in ('selected', 'folder', 'shortcut')),
    name text not null,
    mime_type text not null,
    url text,
    size bigint,
    fingerprint text,
    todo text check (todo in ('look_up', 'list', 'fetch', 'remove')),
    page_token text,
    pages integer not null default 0,
    attempts integer not null default 0,
    result text check (result in ('indexed', 'failed', 'unreadable', 'skipped', 'gone')),
    error text,
    document_id uuid,
    seen_in uuid not null,
    primary key (source_id, file_id)
  )`,
  'create index drive_items_todo on drive_items (source_id, todo) where todo is not null',
  // Without an end where the server names none: the token is used until the server refuses it.
  `create table drive_grants (
    source_id uuid primary key references drive_sources (id) on delete cascade,
    organization_id uuid not null,
    status text not null check (status in ('authorized', 'gone')),
    generation uuid not null,
    expires_at timestamptz(3),
    refresh_at timestamptz(3),
    refresh_lease uuid,
    refreshing_until timestamptz(3)
  )`,
  `create table drive_sign_ins (
    state_digest text primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null,
    file_ids jsonb not null,
    redirect_url text not null,
    redirect_uri text not null,
    created_at timestamptz(3) not null,
    expires_at timestamptz(3) not null
  )`,
  'create index drive_sign_ins_of_agent on drive_sign_ins (agent_id, created_at)',
  'create index drive_sign_ins_by_expiry on drive_sign_ins (expires_at)',
];

export const driveSchema: ContextSchema = {
  entities: [StoredServiceAccount, StoredDriveSource, StoredDriveItem, StoredDriveGrant, StoredDriveSignIn],
  base,
};
