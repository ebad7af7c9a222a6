import { Injectable } from '@nestjs/common';
import { Settings } from '../../../platform/config/index.js';
import { Database } from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import { EF_SEARCH, EXACT_CHUNKS, INDEXED_DIMENSIONS, INDEXED_HALF_DIMENSIONS } from '../limits.js';
import { vectorText } from './vector.repository.js';
import { nearestAmongEquals, nearestOf, VISIBLE_CHUNKS } from './vectors.sql.js';

/** A model of which there are vectors to compare with. */
export interface SearchableModel {
  readonly id: number;
  readonly dimensions: number;
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

/**
 * The chunks that are nearest to a query among those that its user may see. All of them are compared, or, where they are many, those
 * that an HNSW index of the model leads to; it is read on until enough are found, and where it ends too early all are compared after all.
 * The embedded database has no such index: adding to one keeps this thread for 40 ms a vector.
 */
@Injectable()
export class VectorIndex {
  protected readonly exactChunks: number = EXACT_CHUNKS;
  private readonly ensured = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Before the first vector of a model is stored: an index of none is made at once. */
  async ensure(model: SearchableModel): Promise<void> {
    const type = this.indexedType(model);
    if (type === undefined || this.ensured.has(model.id)) return;
    await this.database.query(
      `create index if not exists ${indexOf(model.id)} on knowledge_vectors
        using hnsw ((embedding::${type}) ${type.startsWith('half') ? 'halfvec' : 'vector'}_cosine_ops) where model_id = ${String(model.id)}`,
    );
    this.ensured.add(model.id);
  }

  async drop(modelId: number): Promise<void> {
    this.ensured.delete(modelId);
    await this.database.query(`drop index if exists ${indexOf(modelId)}`);
  }

  /** The best first; where not all that are equal are among them, those of the first documents are. */
  async nearest(scope: SearchScope, model: SearchableModel, query: readonly number[], limit: number): Promise<string[]> {
    const { organizationId, agentId, userContext } = scope;
    const parameters = { organizationId, agentId, userContext: userContext ?? {}, vector: vectorText(query), limit };
    const type = this.indexedType(model);
    let found: readonly Neighbour[] = type !== undefined && (await this.areMany(parameters)) ? await this.throughIndex(model, type, parameters) : [];
    if (found.length < limit) found = await this.exact(model, parameters);
    return found.map(({ chunkId }) => chunkId);
  }

  private async exact({ id }: SearchableModel, parameters: NearestParameters): Promise<readonly Neighbour[]> {
    const found = await nearestOf(id, 'vector').run<Neighbour>(this.database, { ...parameters, limit: parameters.limit + 1 });
    const [last, next] = found.slice(parameters.limit - 1);
    if (next?.distance !== last?.distance) return found.slice(0, parameters.limit);
    return nearestAmongEquals(id, 'vector').run<Neighbour>(this.database, parameters);
  }

  private throughIndex({ id }: SearchableModel, type: string, parameters: NearestParameters): Promise<Neighbour[]> {
    return this.database.transaction(async (transaction) => {
      await transaction.query(`set local hnsw.ef_search = ${String(EF_SEARCH)}`);
      await transaction.query('set local hnsw.iterative_scan = relaxed_order');
      // Another plan would compare everything: the planner does not know how dear that is.
      await transaction.query('set local enable_sort = off');
      // What the index leads to is looked up among the chunks that this user must not see: hashed, or once for each.
      await transaction.query("set local work_mem = '64MB'");
      return nearestOf(id, type).run<Neighbour>(transaction, parameters);
    });
  }

  private async areMany({ organizationId, agentId, userContext }: SearchScope): Promise<boolean> {
    const [row] = await VISIBLE_CHUNKS.run<{ chunks: number }>(this.database, { organizationId, agentId, userContext });
    return (row?.chunks ?? 0) > this.exactChunks;
  }

  private indexedType({ dimensions }: SearchableModel): string | undefined {
    if (this.settings.embedded || dimensions > INDEXED_HALF_DIMENSIONS) return undefined;
    return `${dimensions > INDEXED_DIMENSIONS ? 'halfvec' : 'vector'}(${String(dimensions)})`;
  }
}

function indexOf(modelId: number): string {
  return `knowledge_vectors_hnsw_${String(modelId)}`;
}
