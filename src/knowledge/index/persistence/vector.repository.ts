import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/index.js';
import { REMOVED_VECTORS } from '../embedding-limits.js';
import { uuids } from './arrays.js';

export interface EmbeddableChunk {
  readonly id: string;
  readonly title: string;
  readonly heading: string | null;
  readonly text: string;
  /** Of what is embedded of it, in hexadecimal. */
  readonly digest: string;
}

/** Null where the text cannot have a vector: it is not tried again. */
export interface ChunkVector {
  readonly chunkId: string;
  readonly digest: string;
  readonly vector: readonly number[] | null;
}

/** The vectors of chunks by model. The table is there only where `VectorTable` has made it. */
@Injectable()
export class VectorRepository {
  constructor(private readonly database: Database) {}

  /** Chunks of an agent that have no row for the model, in the order of their ids. */
  async lacking(organizationId: string, agentId: string, modelId: number, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select c.id::text as id from knowledge_chunks c
        where c.organization_id = $1::uuid and c.agent_id = $2::uuid
          and not exists (select 1 from knowledge_vectors v where v.chunk_id = c.id and v.model_id = $3::integer)
        order by c.id limit $4::integer`,
      [organizationId, agentId, modelId, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** The next agent, in the order of their ids, that has any chunk. Of all organizations: for the service's own upkeep. */
  async agentAfter(agentId: string | null): Promise<{ readonly organizationId: string; readonly agentId: string } | undefined> {
    const [row] = await this.database.query<{ organizationId: string; agentId: string }>(
      `select organization_id::text as "organizationId", agent_id::text as "agentId" from knowledge_chunks
        where agent_id > coalesce($1::text, '00000000-0000-0000-0000-000000000000')::uuid order by agent_id limit 1`,
      [agentId],
    );
    return row;
  }

  /**
   * Gives chunks the vectors that the organization has of the same text by the same model.
   * @returns the chunks that have one now
   */
  async copyKnown(organizationId: string, modelId: number, chunkIds: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `insert into knowledge_vectors (chunk_id, model_id, organization_id, agent_id, digest, embedding)
       select c.id, $2::integer, c.organization_id, c.agent_id, c.digest, known.embedding
         from knowledge_chunks c
         cross join lateral (
           select v.embedding from knowledge_vectors v
            where v.model_id = $2::integer and v.organization_id = $1::uuid and v.digest = c.digest limit 1) known
        where c.organization_id = $1::uuid and c.id = any($3::text[]::uuid[])
          for key share of c
       on conflict do nothing
       returning chunk_id::text as id`,
      [organizationId, modelId, uuids(chunkIds)],
    );
    return rows.map(({ id }) => id);
  }

  textsOf(organizationId: string, chunkIds: readonly string[]): Promise<EmbeddableChunk[]> {
    return this.database.query<EmbeddableChunk>(
      `select c.id::text as id, d.title, c.heading, c.text, encode(c.digest, 'hex') as digest
         from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
        where c.organization_id = $1::uuid and c.id = any($2::text[]::uuid[]) order by c.id`,
      [organizationId, uuids(chunkIds)],
    );
  }

  /** Stores what still belongs to a chunk: one that is gone, or says something else by now, is left out. */
  async store(organizationId: string, modelId: number, vectors: readonly ChunkVector[]): Promise<void> {
    await this.database.query(
      `insert into knowledge_vectors (chunk_id, model_id, organization_id, agent_id, digest, embedding)
       select c.id, $2::integer, c.organization_id, c.agent_id, c.digest, made.embedding::vector
         from unnest($3::text[]::uuid[], $4::text[], $5::text[]) made (chunk_id, digest, embedding)
         join knowledge_chunks c on c.id = made.chunk_id and c.digest = decode(made.digest, 'hex')
        where c.organization_id = $1::uuid
          for key share of c
       on conflict do nothing`,
      [
        organizationId,
        modelId,
        uuids(vectors.map(({ chunkId }) => chunkId)),
        `{${vectors.map(({ digest }) => digest).join(',')}}`,
        `{${vectors.map(({ vector }) => (vector === null ? 'null' : `"${vectorText(vector)}"`)).join(',')}}`,
      ],
    );
  }

  /** Removes some vectors of a retired model. @returns whether there may be more */
  async removeSome(modelId: number): Promise<boolean> {
    const rows = await this.database.query(
      `delete from knowledge_vectors where model_id = $1::integer and chunk_id in (
         select chunk_id from knowledge_vectors where model_id = $1::integer limit ${String(REMOVED_VECTORS)})
          and exists (select 1 from knowledge_embedding_models where id = $1::integer and state = 'retired')
       returning chunk_id`,
      [modelId],
    );
    return rows.length === REMOVED_VECTORS;
  }
}

/** Numbers that 32 bits cannot tell from 0 are refused by the type rather than rounded. */
const SMALLEST = 1e-37;

/** As the type `vector` reads it. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.map((number) => (Math.abs(number) < SMALLEST ? 0 : number)).join(',')}]`;
}
