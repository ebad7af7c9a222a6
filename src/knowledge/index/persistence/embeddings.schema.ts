import { type ContextSchema, migration } from '../../../platform/database/index.js';

/**
 * The vectors themselves are in a table that is made at the start, where the extension is to be had (`VectorTable`): a
 * database without it has all of these.
 */
const embeddings = migration('2026112320_knowledge_embeddings', [
  `create table knowledge_embedding_models (
    id integer generated always as identity primary key,
    name text not null,
    dimensions integer,
    state text not null check (state in ('building', 'serving', 'retired')),
    created_at timestamptz(3) not null
  )`,
  `create table knowledge_embedding_leases (
    agent_id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    holder uuid not null,
    expires_at timestamptz(3) not null
  )`,
]);

/** Neither table is mapped: rows of both are changed by conditional statements alone. */
export const embeddingsSchema: ContextSchema = { entities: [], migrations: [embeddings] };
