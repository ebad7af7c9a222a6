import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { Database } from '../../../platform/database/index.js';
import { TtlCache } from '../../../platform/cache/index.js';
import {
  CHUNK_COUNT_CACHE_AGENTS,
  CHUNK_COUNT_CACHE_MS,
  EF_SEARCH,
  EXACT_CHUNKS,
  INDEXED_DIMENSIONS,
  INDEXED_HALF_DIMENSIONS,
} from '../embedding-limits.js';
import type { SearchScope } from '../application/search/search-scope.js';
import { vectorText } from './vector.repository.js';

/** A model of which there are vectors to compare with. */
export interface SearchableModel {
  readonly id: number;
  readonly dimensions: number;
}

interface Neighbour {
  readonly chunkId: string;
  readonly distance: number;
}

/**
 * The chunks of an agent that are nearest to a query. All of its vectors are compared, or, where they are many, those that
 * an HNSW index of the model leads to; it is read on until enough of the agent's own are found. The embedded database
 * has no such index: adding to one keeps this thread for 40 ms a vector.
 */
@Injectable()
export class VectorIndex {
  protected readonly exactChunks: number = EXACT_CHUNKS;
  private readonly ensured = new Set<number>();
  private readonly counts: TtlCache<{ readonly many: boolean }>;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    clock: Clock,
  ) {
    this.counts = new TtlCache({ clock, ttlMs: CHUNK_COUNT_CACHE_MS, maxEntries: CHUNK_COUNT_CACHE_AGENTS });
  }

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
    const type = this.indexedType(model);
    const indexed = type !== undefined && (await this.hasMany(scope, model));
    const found = indexed ? await this.throughIndex(scope, model, query, { limit, type }) : await this.exact(scope, model, query, limit);
    return found.map(({ chunkId }) => chunkId);
  }

  private async exact(scope: SearchScope, { id }: SearchableModel, query: readonly number[], limit: number): Promise<readonly Neighbour[]> {
    const distance = 'embedding <=> $4::vector';
    const found = await this.database.query<Neighbour>(nearestSql(String(id), distance), parameters(scope, query, limit + 1));
    const [last, next] = found.slice(limit - 1);
    if (next?.distance !== last?.distance) return found.slice(0, limit);
    return this.database.query<Neighbour>(amongEqualsSql(nearestSql(String(id), distance, 'with ties')), parameters(scope, query, limit));
  }

  private throughIndex(
    scope: SearchScope,
    { id }: SearchableModel,
    query: readonly number[],
    { limit, type }: { readonly limit: number; readonly type: string },
  ): Promise<Neighbour[]> {
    return this.database.transaction(async (transaction) => {
      await transaction.query(`set local hnsw.ef_search = ${String(EF_SEARCH)}`);
      await transaction.query('set local hnsw.iterative_scan = relaxed_order');
      // Another plan would compare everything: the planner does not know how dear that is.
      await transaction.query('set local enable_sort = off');
      // What the index leads to is looked up among the chunks that this user must not see: hashed, or once for each.
      await transaction.query("set local work_mem = '64MB'");
      return transaction.query<Neighbour>(nearestSql(String(id), `embedding::${type} <=> $4::${type}`), parameters(scope, query, limit));
    });
  }

  private async hasMany({ organizationId, agentId }: SearchScope, { id }: SearchableModel): Promise<boolean> {
    const found = await this.counts.get(`${agentId}/${String(id)}`, async () => {
      const [row] = await this.database.query<{ many: boolean }>(
        `select count(*) > ${String(this.exactChunks)} as many from (
           select 1 from knowledge_vectors where organization_id = $1::uuid and agent_id = $2::uuid and model_id = $3::integer
            limit ${String(this.exactChunks + 1)}) counted`,
        [organizationId, agentId, id],
      );
      return row;
    });
    return found?.many ?? false;
  }

  private indexedType({ dimensions }: SearchableModel): string | undefined {
    if (this.settings.embedded || dimensions > INDEXED_HALF_DIMENSIONS) return undefined;
    return `${dimensions > INDEXED_DIMENSIONS ? 'halfvec' : 'vector'}(${String(dimensions)})`;
  }
}

function indexOf(modelId: number): string {
  return `knowledge_vectors_hnsw_${String(modelId)}`;
}

/** The model stands in the text: only so does the planner see that the model's own index holds all that is asked for. */
function nearestSql(modelId: string, distance: string, ties: 'with ties' | 'only' = 'only'): string {
  return `select chunk_id::text as "chunkId", ${distance} as distance from knowledge_vectors
    where model_id = ${modelId} and organization_id = $1::uuid and agent_id = $2::uuid and embedding is not null
      and chunk_id not in (
        select c.id from knowledge_documents d join knowledge_chunks c on c.document_id = d.id
         where d.organization_id = $1::uuid and d.agent_id = $2::uuid and d.scope is not null and not d.scope <@ $3::text::jsonb)
    order by ${distance} fetch first ($5::integer) rows ${ties}`;
}

/** The same text may be in many documents: which of them come first is not left to how they are stored. */
function amongEqualsSql(nearest: string): string {
  return `select n."chunkId", n.distance from (${nearest}) n
      join knowledge_chunks c on c.id = n."chunkId"::uuid join knowledge_documents d on d.id = c.document_id
    where c.organization_id = $1::uuid
    order by n.distance, d.kind, d.key collate "C", c.position, c.id limit $5::integer`;
}

function parameters({ organizationId, agentId, userContext }: SearchScope, query: readonly number[], limit: number): unknown[] {
  return [organizationId, agentId, JSON.stringify(userContext ?? {}), vectorText(query), limit];
}
