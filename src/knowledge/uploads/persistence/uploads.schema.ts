import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { type ContextSchema, CustomerJson } from '../../../platform/database/index.js';
import type { DocumentScope } from '../domain/upload.js';

/** A file that a customer uploaded as knowledge of an agent, with the state of its parsing. */
export const StoredUpload = defineEntity({
  name: 'StoredKnowledgeUpload',
  tableName: 'knowledge_uploads',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    name: p.text(),
    contentType: p.text(),
    size: p.bigint('number'),
    scope: new CustomerJson<DocumentScope>('knowledge_uploads.scope').property().strictNullable(),
    status: p.text().$type<'pending' | 'processing' | 'ready' | 'failed' | 'removing'>(),
    error: p.text().strictNullable(),
    chunks: p.integer(),
    /** The size of the chunks' text in UTF-8. */
    bytes: p.integer(),
    /** Attempts to parse it since it was uploaded or last failed. */
    attempts: p.integer(),
    /** `waiting`: it has no job yet. `taken`: its job uses a slot of the organization. `over`: its job, if any, uses no slot. */
    slot: p.text().$type<'waiting' | 'taken' | 'over'>().fieldName('turn'),
    createdAt: p.datetime(3),
    /** When its status, or its attempts, last changed. */
    changedAt: p.datetime(3),
  },
});
export type StoredUpload = InferEntity<typeof StoredUpload>;

/**
 * The row is inserted before the content is stored and deleted after it is removed: its status is `pending` or `removing` in
 * that time. There is no foreign key to the agent, because a cascade would delete rows whose content is still in the file store.
 */
const base = [
  `create table knowledge_uploads (
    id uuid primary key,
    organization_id uuid not null references organizations (id),
    agent_id uuid not null,
    name text not null,
    content_type text not null,
    size bigint not null,
    scope jsonb,
    status text not null check (status in ('pending', 'processing', 'ready', 'failed', 'removing')),
    error text,
    chunks integer not null,
    bytes integer not null,
    attempts integer not null,
    created_at timestamptz(3) not null,
    changed_at timestamptz(3) not null,
    turn text not null default 'waiting' check (turn in ('waiting', 'taken', 'over'))
  )`,
  'create index knowledge_uploads_of_agent on knowledge_uploads (agent_id, id)',
  `create index knowledge_uploads_unsettled on knowledge_uploads (changed_at)
    where status in ('pending', 'processing', 'removing')`,
  `create index knowledge_uploads_turns on knowledge_uploads (organization_id, turn, id) where status = 'processing'`,
];

export const uploadsSchema: ContextSchema = { entities: [StoredUpload], base };
