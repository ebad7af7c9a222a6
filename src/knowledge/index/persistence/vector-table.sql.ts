/** SQL because the table is created at the start rather than by a migration: only if the extension pgvector is available. */
import { statement } from '../../../platform/database/index.js';

export const CHECK_TABLE = statement(
  {},
  () =>
    "select to_regclass('knowledge_vectors') is not null and to_regclass('knowledge_vectors_digest') is not null as exists",
);

export const CHECK_EXTENSION = statement(
  {},
  () => `select installed_version as installed, has_database_privilege(current_database(), 'create') as "isCreatable"
  from pg_available_extensions where name = 'vector'`,
);

export const CREATE_EXTENSION = statement({}, () => 'create extension if not exists vector');

/** The foreign key needs an exclusive lock of the chunks. A process that starts does not wait for long transactions on them. */
export const LIMIT_LOCK_WAIT = statement({}, () => "set local lock_timeout = '5s'");

export const CREATE_TABLE = [
  `create table if not exists knowledge_vectors (
    chunk_id uuid not null references knowledge_chunks (id) on delete cascade,
    model_id integer not null references knowledge_embedding_models (id),
    organization_id uuid not null,
    agent_id uuid not null,
    digest bytea not null,
    embedding vector,
    primary key (chunk_id, model_id)
  )`,
  // Vectors that are stored in the row rather than beside it are compared three times as fast.
  'alter table knowledge_vectors alter column embedding set storage main',
  'create index if not exists knowledge_vectors_agent on knowledge_vectors (agent_id, model_id)',
  'create index if not exists knowledge_vectors_digest on knowledge_vectors (model_id, organization_id, digest)',
].map((text) => statement({}, () => text));

const indexName = (modelId: number): string => `knowledge_vectors_hnsw_${String(modelId)}`;

/** @param type of the model's vectors with their size, as pgvector names it */
export const createIndex = (modelId: number, type: string) =>
  statement(
    {},
    () => `
  create index if not exists ${indexName(modelId)} on knowledge_vectors
   using hnsw ((embedding::${type}) ${type.startsWith('half') ? 'halfvec' : 'vector'}_cosine_ops) where model_id = ${String(modelId)}`,
  );

export const dropIndex = (modelId: number) => statement({}, () => `drop index if exists ${indexName(modelId)}`);
