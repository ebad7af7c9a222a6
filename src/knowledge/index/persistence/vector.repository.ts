import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/config/index.js';
import { Database } from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import type { AgentKey } from '../domain/source-kind.js';
import { EXACT_CHUNKS, INDEXED_DIMENSIONS, INDEXED_HALF_DIMENSIONS, REMOVED_VECTORS } from '../limits.js';
import { StoredChunk } from './knowledge.schema.js';
import { createIndex, dropIndex } from './vector-table.sql.js';
import * as sql from './vectors.sql.js';

export interface EmbeddableChunk {
  readonly id: string;
  readonly title: string;
  readonly heading: string | null;
  readonly text: string;
  /** Hexadecimal; of the text that is embedded. */
  readonly digest: string;
}

export interface ChunkVector {
  readonly chunkId: string;
  readonly digest: string;
  /** Null if the text cannot have a vector: no worker requests it again. */
  readonly vector: readonly number[] | null;
}

interface Neighbour {
  readonly chunkId: string;
  readonly distance: number;
}

interface NearestParameters extends SearchScope {
  readonly vector: string;
  readonly limit: number;
}

/** The vectors of chunks, by model. The table exists once `VectorTable` has created it. */
@Injectable()
export class VectorRepository {
  protected readonly exactChunks: number = EXACT_CHUNKS;
  /** The ids of models for which this process has created an index. */
  private readonly indexed = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Finds chunks of an agent that have no row for the model, in the order of their ids. */
  async findChunksWithoutVector(agent: AgentKey, modelId: number, limit: number): Promise<string[]> {
    const parameters = { ...agent, modelId, limit };
    const rows = await sql.FIND_CHUNKS_WITHOUT_VECTOR.run<{ id: string }>(this.database, parameters);
    return rows.map(({ id }) => id);
  }

  /** The next agent of any organization, in the order of their ids, that has a chunk. */
  async nextAgent(agentId: string | null): Promise<AgentKey | undefined> {
    const where = agentId === null ? {} : { agentId: { $gt: agentId } };
    const first = { orderBy: { agentId: 'asc' }, limit: 1, disableIdentityMap: true } as const;
    const [next] = await this.database.read((em) =>
      em.find(StoredChunk, where, { fields: ['organizationId', 'agentId'], ...first }),
    );
    return next;
  }

  /** Copies vectors that the organization already has of the same texts by the same model. @returns the chunks that have a vector now */
  async copyVectors(organizationId: string, modelId: number, chunkIds: readonly string[]): Promise<string[]> {
    const rows = await sql.COPY_VECTORS.run<{ id: string }>(this.database, { organizationId, modelId, chunkIds });
    return rows.map(({ id }) => id);
  }

  readTexts(organizationId: string, chunkIds: readonly string[]): Promise<EmbeddableChunk[]> {
    return sql.READ_TEXTS.run(this.database, { organizationId, chunkIds });
  }

  /** Call it before the first vector of a model is stored: the index of an empty table is created at once. */
  async createIndex(modelId: number, dimensions: number): Promise<void> {
    const type = this.indexedType(dimensions);
    if (type === undefined || this.indexed.has(modelId)) return;
    await createIndex(modelId, type).run(this.database, {});
    this.indexed.add(modelId);
  }

  /** Leaves out chunks that were deleted or whose text has changed. */
  async store(organizationId: string, modelId: number, vectors: readonly ChunkVector[]): Promise<void> {
    await sql.STORE_VECTORS.run(this.database, {
      organizationId,
      modelId,
      chunkIds: vectors.map(({ chunkId }) => chunkId),
      digests: vectors.map(({ digest }) => digest),
      vectors: vectors.map(({ vector }) => (vector === null ? null : vectorText(vector))),
    });
  }

  /** Removes some vectors of a retired model. @returns whether more may be left */
  async removeSome(modelId: number): Promise<boolean> {
    const removed = await sql.REMOVE_VECTORS.run(this.database, { modelId, limit: REMOVED_VECTORS });
    return removed.length === REMOVED_VECTORS;
  }

  async dropIndex(modelId: number): Promise<void> {
    this.indexed.delete(modelId);
    await dropIndex(modelId).run(this.database, {});
  }

  /**
   * Finds the visible chunks nearest to a query, best first; at the same distance, those of the first documents. If there are few chunks, or
   * if the HNSW index of the model finds too few, all chunks are compared. The embedded database has no such index, because adding a vector
   * to it blocks this thread for 40 ms.
   */
  async nearest(scope: SearchScope, modelId: number, query: readonly number[], limit: number): Promise<string[]> {
    const parameters = { ...scope, userContext: scope.userContext ?? {}, vector: vectorText(query), limit };
    const type = this.indexedType(query.length);
    let found: readonly Neighbour[] =
      type !== undefined && (await this.hasMany(parameters)) ? await this.searchIndex(modelId, type, parameters) : [];
    if (found.length < limit) found = await this.compareAll(modelId, parameters);
    return found.map(({ chunkId }) => chunkId);
  }

  private async compareAll(modelId: number, parameters: NearestParameters): Promise<readonly Neighbour[]> {
    const { limit } = parameters;
    const nearest = sql.nearestChunks(modelId, 'vector');
    const found = await nearest.run<Neighbour>(this.database, { ...parameters, limit: limit + 1 });
    const [last, next] = found.slice(limit - 1);
    if (next?.distance !== last?.distance) return found.slice(0, limit);
    return sql.nearestChunksWithTies(modelId, 'vector').run<Neighbour>(this.database, { ...parameters });
  }

  private searchIndex(modelId: number, type: string, parameters: NearestParameters): Promise<Neighbour[]> {
    return this.database.transaction(async (transaction) => {
      for (const setting of sql.INDEX_SETTINGS) await setting.run(transaction, {});
      return sql.nearestChunks(modelId, type).run<Neighbour>(transaction, { ...parameters });
    });
  }

  private async hasMany(scope: SearchScope): Promise<boolean> {
    const [row] = await sql.COUNT_VISIBLE_CHUNKS.run<{ chunks: number }>(this.database, { ...scope });
    return (row?.chunks ?? 0) > this.exactChunks;
  }

  private indexedType(dimensions: number): string | undefined {
    if (this.settings.embedded || dimensions > INDEXED_HALF_DIMENSIONS) return undefined;
    return `${dimensions > INDEXED_DIMENSIONS ? 'halfvec' : 'vector'}(${String(dimensions)})`;
  }
}

/** The type refuses numbers that 32 bits cannot tell from 0 instead of rounding them. */
const SMALLEST = 1e-37;

/** Writes a vector as the type `vector` reads it. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.map((number) => (Math.abs(number) < SMALLEST ? 0 : number)).join(',')}]`;
}
