import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/index.js';
import { REMOVED_VECTORS } from '../limits.js';
import { StoredChunk } from './knowledge.schema.js';
import { COPY_KNOWN, LACKING, REMOVE_SOME, STORE, TEXTS } from './vectors.sql.js';

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
    const rows = await LACKING.run<{ id: string }>(this.database, { organizationId, agentId, modelId, limit });
    return rows.map(({ id }) => id);
  }

  /** The next agent, in the order of their ids, that has any chunk. Of all organizations: for the service's own upkeep. */
  async agentAfter(agentId: string | null): Promise<{ readonly organizationId: string; readonly agentId: string } | undefined> {
    const after = agentId === null ? {} : { agentId: { $gt: agentId } };
    const [next] = await this.database.read((em) =>
      em.find(StoredChunk, after, { fields: ['organizationId', 'agentId'], orderBy: { agentId: 'asc' }, limit: 1, disableIdentityMap: true }),
    );
    return next;
  }

  /**
   * Gives chunks the vectors that the organization has of the same text by the same model.
   * @returns the chunks that have one now
   */
  async copyKnown(organizationId: string, modelId: number, chunkIds: readonly string[]): Promise<string[]> {
    const rows = await COPY_KNOWN.run<{ id: string }>(this.database, { organizationId, modelId, chunkIds });
    return rows.map(({ id }) => id);
  }

  textsOf(organizationId: string, chunkIds: readonly string[]): Promise<EmbeddableChunk[]> {
    return TEXTS.run(this.database, { organizationId, chunkIds });
  }

  /** Stores what still belongs to a chunk: one that is gone, or says something else by now, is left out. */
  async store(organizationId: string, modelId: number, vectors: readonly ChunkVector[]): Promise<void> {
    await STORE.run(this.database, {
      organizationId,
      modelId,
      chunkIds: vectors.map(({ chunkId }) => chunkId),
      digests: vectors.map(({ digest }) => digest),
      vectors: vectors.map(({ vector }) => (vector === null ? null : vectorText(vector))),
    });
  }

  /** Removes some vectors of a retired model. @returns whether there may be more */
  async removeSome(modelId: number): Promise<boolean> {
    return (await REMOVE_SOME.run(this.database, { modelId, limit: REMOVED_VECTORS })).length === REMOVED_VECTORS;
  }
}

/** Numbers that 32 bits cannot tell from 0 are refused by the type rather than rounded. */
const SMALLEST = 1e-37;

/** As the type `vector` reads it. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.map((number) => (Math.abs(number) < SMALLEST ? 0 : number)).join(',')}]`;
}
