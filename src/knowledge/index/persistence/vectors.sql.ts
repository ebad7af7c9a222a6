/** Hot path: operators and a type of the extension pgvector, which the ORM does not know, compare, copy and store vectors. */
import { type ParameterReferences, statement } from '../../../platform/database/index.js';
import { EF_SEARCH } from '../limits.js';

/** For the transaction of a search through an HNSW index. */
export const INDEX_SETTINGS = [
  `set local hnsw.ef_search = ${String(EF_SEARCH)}`,
  'set local hnsw.iterative_scan = relaxed_order',
  // The planner underestimates what comparisons cost: with a sort it would choose a plan that compares all vectors.
  'set local enable_sort = off',
  // Lets the planner hash the chunks that the user must not see: otherwise it looks them up once for each neighbour.
  "set local work_mem = '64MB'",
].map((text) => statement({}, () => text));

/** Chunks of an agent that have no row for the model, in the order of their ids. */
export const FIND_CHUNKS_WITHOUT_VECTOR = statement(
  { organizationId: 'uuid', agentId: 'uuid', modelId: 'integer', limit: 'integer' },
  (p) => `
  select c.id::text as id from knowledge_chunks c
   where c.organization_id = ${p.organizationId} and c.agent_id = ${p.agentId}
     and not exists (select 1 from knowledge_vectors v where v.chunk_id = c.id and v.model_id = ${p.modelId})
   order by c.id limit ${p.limit}`,
);

export const COPY_VECTORS = statement(
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

export const READ_TEXTS = statement(
  { organizationId: 'uuid', chunkIds: 'uuid[]' },
  (p) => `
  select c.id::text as id, d.title, c.heading, c.text, encode(c.digest, 'hex') as digest
    from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId} and c.id = any(${p.chunkIds}) order by c.id`,
);

/** Leaves out chunks that were deleted or whose text has changed. */
export const STORE_VECTORS = statement(
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

export const REMOVE_VECTORS = statement(
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

/** The user must not see the document `d`. */
const hidden = (p: ParameterReferences<typeof SCOPE>): string =>
  `d.organization_id = ${p.organizationId} and d.agent_id = ${p.agentId} and d.scope is not null and not d.scope <@ ${p.userContext}`;

export const COUNT_VISIBLE_CHUNKS = statement(
  SCOPE,
  (p) => `
  select coalesce(sum(d.chunks), 0)::integer as chunks from knowledge_documents d
   where d.organization_id = ${p.organizationId} and d.agent_id = ${p.agentId} and not (${hidden(p)})`,
);

const NEAREST = { ...SCOPE, vector: 'text', limit: 'integer' } as const;

/** `not in` lets the database hash the hidden chunks. A join with the chunks is up to ten times slower while the tables have few statistics. */
const nearest = (
  p: ParameterReferences<typeof NEAREST>,
  modelId: number,
  type: string,
  ties: 'only' | 'with ties' = 'only',
): string => `
  select chunk_id, embedding::${type} <=> ${p.vector}::${type} as distance from knowledge_vectors
   where model_id = ${String(modelId)} and organization_id = ${p.organizationId} and agent_id = ${p.agentId} and embedding is not null
     and chunk_id not in (select c.id from knowledge_documents d join knowledge_chunks c on c.document_id = d.id where ${hidden(p)})
   order by embedding::${type} <=> ${p.vector}::${type} fetch first (${p.limit}) rows ${ties}`;

/**
 * The model's id is part of the text rather than a parameter: otherwise the planner cannot know that the model's partial index has all rows.
 * @param type of the vectors, as the index has it
 */
export const nearestChunks = (modelId: number, type: string) =>
  statement(
    NEAREST,
    (p) => `select n.chunk_id::text as "chunkId", n.distance from (${nearest(p, modelId, type)}) n order by n.distance`,
  );

/** Sorts chunks at the same distance by their documents, so that the order of equal texts does not depend on how they are stored. */
export const nearestChunksWithTies = (modelId: number, type: string) =>
  statement(
    NEAREST,
    (p) => `
  select n.chunk_id::text as "chunkId", n.distance from (${nearest(p, modelId, type, 'with ties')}) n
    join knowledge_chunks c on c.id = n.chunk_id join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId}
   order by n.distance, d.kind, d.key collate "C", c.position, c.id limit ${p.limit}`,
  );
