import { defineEntity, p } from '@mikro-orm/core';
import { isBareUser } from '../../conversations/index.js';
import type { ContextSchema } from '../../platform/database/index.js';

export const StoredMemory = defineEntity({
  name: 'StoredMemory',
  tableName: 'memories',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    userKey: p.uuid(),
    text: p.text(),
    /** Sorted digests (`PackedTerms`). */
    terms: p.blob().columnType('bytea'),
    usefulness: p.double(),
    createdAt: p.datetime(6),
    updatedAt: p.datetime(6),
    /** Of the text, made by `vectorModel`. */
    vector: p.blob().columnType('bytea').strictNullable(),
    vectorModel: p.text().strictNullable(),
  },
});

/**
 * No foreign key leads to the agent: a job removes the memories of deleted agents in batches. Every statement uses the index, which
 * starts with the owner and lists the most useful memories first. `terms`, `vector` and `vector_model` change with the text.
 */
const base = [
  `create table memories (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null,
    user_key uuid not null,
    text text not null,
    terms bytea not null,
    usefulness double precision not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    vector bytea,
    vector_model text
  )`,
  // Not compressed, so that PostgreSQL can read the first bytes without the others.
  'alter table memories alter column terms set storage external',
  'create index memories_of_user on memories (agent_id, user_key, usefulness desc, id)',
  // For the job that re-keys users of earlier releases; it is empty once all are re-keyed.
  `create index memories_of_bare_users on memories (organization_id, user_key) where ${isBareUser('user_key')}`,
];

export const memoriesSchema: ContextSchema = { entities: [StoredMemory], base };
