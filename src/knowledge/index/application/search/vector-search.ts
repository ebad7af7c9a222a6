import { Injectable } from '@nestjs/common';
import { QueryEmbeddings } from '../../../../models/index.js';
import { EmbeddingModels } from '../embeddings/embedding-models.js';
import { SemanticSearchState } from '../embeddings/semantic-search-state.js';
import { VectorRepository } from '../../persistence/vector.repository.js';
import type { QueryVector } from '../../persistence/candidates.sql.js';
import type { SearchScope } from './search-scope.js';

/** Finds chunks by their meaning. */
@Injectable()
export class VectorSearch {
  constructor(
    private readonly state: SemanticSearchState,
    private readonly models: EmbeddingModels,
    private readonly queries: QueryEmbeddings,
    private readonly vectors: VectorRepository,
  ) {}

  /** Whether this installation can search by meaning. */
  get isAvailable(): boolean {
    return this.state.isReady;
  }

  /** @returns undefined if the installation cannot search by meaning, or the endpoint does not answer */
  async embed(query: string, signal: AbortSignal): Promise<QueryVector | undefined> {
    if (!this.state.isReady) return undefined;
    const model = await this.models.findServing();
    if (typeof model?.dimensions !== 'number') return undefined;
    const vector = await this.queries.vectorFor(model.name, query, signal);
    return vector?.length === model.dimensions && hasDirection(vector)
      ? { modelId: model.id, vector, unrelated: model.unrelated ?? 0 }
      : undefined;
  }

  /** The ids of the nearest chunks, best first. */
  nearest(scope: SearchScope, { modelId, vector }: QueryVector, limit: number): Promise<string[]> {
    return this.vectors.nearest(scope, modelId, vector, limit);
  }
}

/** Whether the database can compute an angle to it: in 32 bits, the sum of squares must be neither 0 nor infinite. */
function hasDirection(vector: readonly number[]): boolean {
  const squares = Math.fround(vector.reduce((sum, number) => sum + number * number, 0));
  return squares > 0 && Number.isFinite(squares);
}
