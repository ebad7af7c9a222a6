/**
 * Hot path: vectors are compared, copied and stored by operators and a type of the extension pgvector, over a table that is there only
 * where the extension is (`VectorTable`).
 */
import { statement } from '../../../platform/database/index.js';
import { EF_SEARCH } from '../limits.js';

export const IS_TABLE_THERE =
  "select to_regclass('knowledge_vectors') is not null and to_regclass('knowledge_vectors_digest') is not null as there";

export const EXTENSION = `select installed_version as installed, has_database_privilege(current_database(), 'create') as creatable
  from pg_available_extensions where name = 'vector'`;

/** The foreign key needs the chunks for itself for a moment; a start does not wait for whatever is written there. */
export const BEFORE_TABLE = "set local lock_timeout = '5s'";

export const VECTOR_TABLE = [
  `create table if not exists knowledge_vectors (
    chunk_id uuid not null references knowledge_chunks (id) on delete cascade,
    model_id integer not null references knowledge_embedding_models (id),
    organization_id uuid not null,
    agent_id uuid not null,
    digest bytea not null,
    embedding vector,
    primary key (chunk_id, model_id)
  )`,
  // Read in the row rather than from beside it, vectors are compared three times as fast.
  'alter table knowledge_vectors alter column embedding set storage main',
  'create index if not exists knowledge_vectors_agent on knowledge_vectors (agent_id, model_id)',
  'create index if not exists knowledge_vectors_digest on knowledge_vectors (model_id, organization_id, digest)',
];

const indexOf = (modelId: number): string => `knowledge_vectors_hnsw_${String(modelId)}`;

/** @param type of the model's vectors with their size, as pgvector names it */
export const makeIndex = (modelId: number, type: string): string => `
  create index if not exists ${indexOf(modelId)} on knowledge_vectors
   using hnsw ((embedding::${type}) ${type.startsWith('half') ? 'halfvec' : 'vector'}_cosine_ops) where model_id = ${String(modelId)}`;

export const dropIndex = (modelId: number): string => `drop index if exists ${indexOf(modelId)}`;

/** For the transaction of a search through the index. */
export const INDEX_SETTINGS = [
  `set local hnsw.ef_search = ${String(EF_SEARCH)}`,
  'set local hnsw.iterative_scan = relaxed_order',
  // Another plan would compare everything: the planner does not know how dear that is.
  'set local enable_sort = off',
  // What the index leads to is looked up among the chunks that this user must not see: hashed, or once for each.
  "set local work_mem = '64MB'",
];

/** Chunks of an agent that have no row for the model, in the order of their ids. */
export const LACKING = statement(
  { organizationId: 'uuid', agentId: 'uuid', modelId: 'integer', limit: 'integer' },
  (p) => `
  select c.id::text as id from knowledge_chunks c
   where c.organization_id = ${p.organizationId} and c.agent_id = ${p.agentId}
     and not exists (select 1 from knowledge_vectors v where v.chunk_id = c.id and v.model_id = ${p.modelId})
   order by c.id limit ${p.limit}`,
);

export const COPY_KNOWN = statement(
  { organizationId: 'uuid', modelId: 'integer', chunkIds: 'uuid[]' },
  (p) => `
  insert into knowledge_vectors (chunk_id, model_id, organization_id, agent_id, digest, embedding)
  select c.id, ${p.modelId}, c.organization_id, c.agent_id, c.digest, known.embedding
    from knowledge_chunks c
    cross join lateral (
      select v.embedding from knowledge_vectors v
       where v.model_id = ${p.modelId} and v.organization_id = ${p.organizationId} and v.digest = c.digest limit 1) known
   where c.organization_id = ${p.organizationId} and c.id = any(${p.chunkIds})
     for key share of c
  on conflict do nothing
  returning chunk_id::text as id`,
);

export const TEXTS = statement(
  { organizationId: 'uuid', chunkIds: 'uuid[]' },
  (p) => `
  select c.id::text as id, d.title, c.heading, c.text, encode(c.digest, 'hex') as digest
    from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId} and c.id = any(${p.chunkIds}) order by c.id`,
);

/** A chunk that is gone, or says something else by now, is left out. */
export const STORE = statement(
  { organizationId: 'uuid', modelId: 'integer', chunkIds: 'uuid[]', digests: 'text[]', vectors: 'text[]' },
  (p) => `
  insert into knowledge_vectors (chunk_id, model_id, organization_id, agent_id, digest, embedding)
  select c.id, ${p.modelId}, c.organization_id, c.agent_id, c.digest, made.embedding::vector
    from unnest(${p.chunkIds}, ${p.digests}, ${p.vectors}) made (chunk_id, digest, embedding)
    join knowledge_chunks c on c.id = made.chunk_id and c.digest = decode(made.digest, 'hex')
   where c.organization_id = ${p.organizationId}
     for key share of c
  on conflict do nothing`,
);

/** Some vectors of a retired model. */
export const REMOVE_SOME = statement(
  { modelId: 'integer', limit: 'integer' },
  (p) => `
  delete from knowledge_vectors where model_id = ${p.modelId}
     and chunk_id in (select chunk_id from knowledge_vectors where model_id = ${p.modelId} limit ${p.limit})
     and exists (select 1 from knowledge_embedding_models where id = ${p.modelId} and state = 'retired')
  returning chunk_id`,
);

export const SERVE_MODEL = statement(
  { id: 'integer' },
  (p) => `
  update knowledge_embedding_models set state = case when id = ${p.id} then 'serving' else 'retired' end
   where (id = ${p.id} or state = 'serving')
     and exists (select 1 from knowledge_embedding_models where id = ${p.id} and state = 'building')
     and not exists (select 1 from knowledge_chunks c where not exists (
           select 1 from knowledge_vectors v where v.chunk_id = c.id and v.model_id = ${p.id}))
  returning id`,
);

export const REMOVE_MODEL = statement(
  { id: 'integer' },
  (p) => `
  delete from knowledge_embedding_models where id = ${p.id} and state = 'retired'
     and not exists (select 1 from knowledge_vectors where model_id = ${p.id})
  returning id`,
);

const SCOPE = { organizationId: 'uuid', agentId: 'uuid', userContext: 'jsonb' } as const;
type ScopeReferences = { readonly [Name in keyof typeof SCOPE]: string };

/** Of a document `d`: the user must not see it. */
const hidden = (p: ScopeReferences): string =>
  `d.organization_id = ${p.organizationId} and d.agent_id = ${p.agentId} and d.scope is not null and not d.scope <@ ${p.userContext}`;

/** How many chunks the user may see. */
export const VISIBLE_CHUNKS = statement(
  SCOPE,
  (p) => `
  select coalesce(sum(d.chunks), 0)::integer as chunks from knowledge_documents d
   where d.organization_id = ${p.organizationId} and d.agent_id = ${p.agentId} and not (${hidden(p)})`,
);

const NEAREST = { ...SCOPE, vector: 'text', limit: 'integer' } as const;
type NearestReferences = { readonly [Name in keyof typeof NEAREST]: string };

/**
 * The hidden chunks are hashed, which is quick however few statistics of the tables there are: a join with the chunks takes from as long
 * to ten times as long.
 */
const nearest = (p: NearestReferences, modelId: number, type: string, ties: 'only' | 'with ties' = 'only'): string => `
  select chunk_id, embedding::${type} <=> ${p.vector}::${type} as distance from knowledge_vectors
   where model_id = ${String(modelId)} and organization_id = ${p.organizationId} and agent_id = ${p.agentId} and embedding is not null
     and chunk_id not in (select c.id from knowledge_documents d join knowledge_chunks c on c.document_id = d.id where ${hidden(p)})
   order by embedding::${type} <=> ${p.vector}::${type} fetch first (${p.limit}) rows ${ties}`;

/**
 * The model stands in the text: only so does the planner see that the model's own index holds all that is asked for.
 * @param type of the vectors, as the index has it
 */
export const nearestOf = (modelId: number, type: string) =>
  statement(
    NEAREST,
    (p) => `select n.chunk_id::text as "chunkId", n.distance from (${nearest(p, modelId, type)}) n order by n.distance`,
  );

/** The same text may be in many documents: which of them come first is not left to how they are stored. */
export const nearestAmongEquals = (modelId: number, type: string) =>
  statement(
    NEAREST,
    (p) => `
  select n.chunk_id::text as "chunkId", n.distance from (${nearest(p, modelId, type, 'with ties')}) n
    join knowledge_chunks c on c.id = n.chunk_id join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId}
   order by n.distance, d.kind, d.key collate "C", c.position, c.id limit ${p.limit}`,
  );
