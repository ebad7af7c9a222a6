import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type EntityReader, type Transaction } from '../../../platform/database/index.js';
import { type EmbeddingModelState, StoredEmbeddingModel } from './embeddings.schema.js';
import { REMOVE_MODEL, SERVE_MODEL } from './vectors.sql.js';

const LOCK = 'knowledge:embedding-models';

/** What is known of a model once it has been asked; each is kept as it was learnt first. */
export type LearntFacts = Partial<Record<'dimensions' | 'unrelated', number>>;

/** Of the whole installation. */
@Injectable()
export class EmbeddingModelRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The newest first. */
  all(source: EntityReader = this.database): Promise<StoredEmbeddingModel[]> {
    return source.read((em) => em.find(StoredEmbeddingModel, {}, { orderBy: { id: 'desc' } }));
  }

  /** One change of them at a time. */
  async lock(transaction: Transaction): Promise<void> {
    await transaction.lock(LOCK);
  }

  async add({ em }: Transaction, model: Pick<StoredEmbeddingModel, 'name' | 'dimensions' | 'state'>): Promise<void> {
    await em.insert(StoredEmbeddingModel, { ...model, unrelated: null, createdAt: this.clock.now() });
  }

  async become({ em }: Transaction, id: number, state: EmbeddingModelState): Promise<void> {
    await em.nativeUpdate(StoredEmbeddingModel, { id }, { state });
  }

  /** @returns the model with what is known of it now; undefined where it is gone */
  async learn(id: number, { dimensions, unrelated }: LearntFacts): Promise<StoredEmbeddingModel | undefined> {
    return this.database.read(async (em) => {
      if (dimensions !== undefined)
        await em.nativeUpdate(StoredEmbeddingModel, { id, dimensions: null }, { dimensions });
      if (unrelated !== undefined) await em.nativeUpdate(StoredEmbeddingModel, { id, unrelated: null }, { unrelated });
      return (await em.findOne(StoredEmbeddingModel, { id })) ?? undefined;
    });
  }

  /**
   * The model that was being built serves from now on, in place of the one before, unless a chunk lacks its vector.
   * @returns whether it does
   */
  async serve(id: number): Promise<boolean> {
    return (await SERVE_MODEL.run(this.database, { id })).length > 0;
  }

  /** Removes a retired model whose vectors are gone. @returns whether it was one */
  async remove(id: number): Promise<boolean> {
    return (await REMOVE_MODEL.run(this.database, { id })).length > 0;
  }
}
