import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/config/index.js';
import { Database } from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import type { AgentKey } from '../domain/source-kind.js';
import { EXACT_CHUNKS, INDEXED_DIMENSIONS, INDEXED_HALF_DIMENSIONS, REMOVED_VECTORS } from '../limits.js';
import { StoredChunk } from './knowledge.schema.js';
import * as sql from './vectors.sql.js';

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

interface Neighbour {
  readonly chunkId: string;
  readonly distance: number;
}

/** What is given for the parameters of a search. */
interface NearestParameters extends SearchScope {
  readonly vector: string;
  readonly limit: number;
}

/** The vectors of chunks by model. The table is there only where `VectorTable` has made it. */
@Injectable()
export class VectorRepository {
  protected readonly exactChunks: number = EXACT_CHUNKS;
  private readonly indexed = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Chunks of an agent that have no row for the model, in the order of their ids. */
  async lacking(organizationId: string, agentId: string, modelId: number, limit: number): Promise<string[]> {
    const rows = await sql.LACKING.run<{ id: string }>(this.database, { organizationId, agentId, modelId, limit });
    return rows.map(({ id }) => id);
  }

  /** The next agent, in the order of their ids, that has any chunk. Of all organizations: for the service's own upkeep. */
  async agentAfter(agentId: string | null): Promise<AgentKey | undefined> {
    const after = agentId === null ? {} : { agentId: { $gt: agentId } };
    const [next] = await this.database.read((em) =>
      em.find(StoredChunk, after, {
        fields: ['organizationId', 'agentId'],
        orderBy: { agentId: 'asc' },
        limit: 1,
        disableIdentityMap: true,
      }),
    );
    return next;
  }

  /**
   * Gives chunks the vectors that the organization has of the same text by the same model.
   * @returns the chunks that have one now
   */
  async copyKnown(organizationId: string, modelId: number, chunkIds: readonly string[]): Promise<string[]> {
    const rows = await sql.COPY_KNOWN.run<{ id: string }>(this.database, { organizationId, modelId, chunkIds });
    return rows.map(({ id }) => id);
  }

  textsOf(organizationId: string, chunkIds: readonly string[]): Promise<EmbeddableChunk[]> {
    return sql.TEXTS.run(this.database, { organizationId, chunkIds });
  }

  /** Before the first vector of a model is stored: an index of none is made at once. */
  async makeIndex(modelId: number, dimensions: number): Promise<void> {
    const type = this.indexedType(dimensions);
    if (type === undefined || this.indexed.has(modelId)) return;
    await this.database.query(sql.makeIndex(modelId, type));
    this.indexed.add(modelId);
  }

  /** Stores what still belongs to a chunk: one that is gone, or says something else by now, is left out. */
  async store(organizationId: string, modelId: number, vectors: readonly ChunkVector[]): Promise<void> {
    await sql.STORE.run(this.database, {
      organizationId,
      modelId,
      chunkIds: vectors.map(({ chunkId }) => chunkId),
      digests: vectors.map(({ digest }) => digest),
      vectors: vectors.map(({ vector }) => (vector === null ? null : vectorText(vector))),
    });
  }

  /** Removes some vectors of a retired model. @returns whether there may be more */
  async removeSome(modelId: number): Promise<boolean> {
    return (await sql.REMOVE_SOME.run(this.database, { modelId, limit: REMOVED_VECTORS })).length === REMOVED_VECTORS;
  }

  async dropIndex(modelId: number): Promise<void> {
    this.indexed.delete(modelId);
    await this.database.query(sql.dropIndex(modelId));
  }

  /**
   * The chunks that are nearest to a query among those that its user may see, the best first; where not all that are equal are among
   * them, those of the first documents are. All of them are compared, or, where they are many, those that an HNSW index of the model
   * leads to; it is read on until enough are found, and where it ends too early all are compared after all. The embedded database has
   * no such index: adding to one keeps this thread for 40 ms a vector.
   */
  async nearest(
    { organizationId, agentId, userContext }: SearchScope,
    modelId: number,
    query: readonly number[],
    limit: number,
  ): Promise<string[]> {
    const parameters = { organizationId, agentId, userContext: userContext ?? {}, vector: vectorText(query), limit };
    const type = this.indexedType(query.length);
    let found: readonly Neighbour[] =
      type !== undefined && (await this.areMany(parameters)) ? await this.throughIndex(modelId, type, parameters) : [];
    if (found.length < limit) found = await this.exact(modelId, parameters);
    return found.map(({ chunkId }) => chunkId);
  }

  private async exact(modelId: number, parameters: NearestParameters): Promise<readonly Neighbour[]> {
    const found = await sql
      .nearestOf(modelId, 'vector')
      .run<Neighbour>(this.database, { ...parameters, limit: parameters.limit + 1 });
    const [last, next] = found.slice(parameters.limit - 1);
    if (next?.distance !== last?.distance) return found.slice(0, parameters.limit);
    return sql.nearestAmongEquals(modelId, 'vector').run<Neighbour>(this.database, parameters);
  }

  private throughIndex(modelId: number, type: string, parameters: NearestParameters): Promise<Neighbour[]> {
    return this.database.transaction(async (transaction) => {
      for (const setting of sql.INDEX_SETTINGS) await transaction.query(setting);
      return sql.nearestOf(modelId, type).run<Neighbour>(transaction, parameters);
    });
  }

  private async areMany({ organizationId, agentId, userContext }: SearchScope): Promise<boolean> {
    const [row] = await sql.VISIBLE_CHUNKS.run<{ chunks: number }>(this.database, {
      organizationId,
      agentId,
      userContext,
    });
    return (row?.chunks ?? 0) > this.exactChunks;
  }

  private indexedType(dimensions: number): string | undefined {
    if (this.settings.embedded || dimensions > INDEXED_HALF_DIMENSIONS) return undefined;
    return `${dimensions > INDEXED_DIMENSIONS ? 'halfvec' : 'vector'}(${String(dimensions)})`;
  }
}

/** Numbers that 32 bits cannot tell from 0 are refused by the type rather than rounded. */
const SMALLEST = 1e-37;

/** As the type `vector` reads it. */
export function vectorText(vector: readonly number[]): string {
  return `[${vector.map((number) => (Math.abs(number) < SMALLEST ? 0 : number)).join(',')}]`;
}
