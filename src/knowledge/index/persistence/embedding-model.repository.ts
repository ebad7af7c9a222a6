import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type EntityReader, type Transaction } from '../../../platform/database/index.js';
import { type EmbeddingModelState, StoredEmbeddingModel } from './embeddings.schema.js';
import { REMOVE_MODEL, SERVE_MODEL } from './vectors.sql.js';

/** Facts of a model that the service learns from the endpoint's answers. The first value is kept. */
export type LearnedFacts = Partial<Record<'dimensions' | 'unrelated', number>>;

/** The models of the whole installation. */
@Injectable()
export class EmbeddingModelRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  list(source: EntityReader = this.database): Promise<StoredEmbeddingModel[]> {
    return source.read((em) => em.find(StoredEmbeddingModel, {}, { orderBy: { id: 'desc' } }));
  }

  async add({ em }: Transaction, model: Pick<StoredEmbeddingModel, 'name' | 'dimensions' | 'state'>): Promise<void> {
    await em.insert(StoredEmbeddingModel, { ...model, unrelated: null, createdAt: this.clock.now() });
  }

  async setState({ em }: Transaction, id: number, state: EmbeddingModelState): Promise<void> {
    await em.nativeUpdate(StoredEmbeddingModel, { id }, { state });
  }

  /** @returns the model with its facts; undefined if it was removed */
  async learn(id: number, { dimensions, unrelated }: LearnedFacts): Promise<StoredEmbeddingModel | undefined> {
    return this.database.read(async (em) => {
      if (dimensions !== undefined)
        await em.nativeUpdate(StoredEmbeddingModel, { id, dimensions: null }, { dimensions });
      if (unrelated !== undefined) await em.nativeUpdate(StoredEmbeddingModel, { id, unrelated: null }, { unrelated });
      return (await em.findOne(StoredEmbeddingModel, { id })) ?? undefined;
    });
  }

  /** Lets the model that is being built serve in place of the other, unless a chunk has no vector of it. @returns whether it serves now */
  async serve(id: number): Promise<boolean> {
    return (await SERVE_MODEL.run(this.database, { id })).length > 0;
  }

  /** Removes a retired model without vectors. @returns whether it was removed */
  async remove(id: number): Promise<boolean> {
    return (await REMOVE_MODEL.run(this.database, { id })).length > 0;
  }
}
