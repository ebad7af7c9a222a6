import { Injectable } from '@nestjs/common';
import { EmbeddingModel, EmbedTexts } from '../../../../models/index.js';
import { TtlCache } from '../../../../platform/cache/index.js';
import { Clock } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { CALIBRATION_TEXTS, unrelatedCosine } from '../../domain/semantic-calibration.js';
import { EmbeddingModelRepository, type LearnedFacts } from '../../persistence/embedding-model.repository.js';
import type { StoredEmbeddingModel } from '../../persistence/embeddings.schema.js';
import { VectorRepository } from '../../persistence/vector.repository.js';
import { MODELS_CACHE_MS } from '../../limits.js';
import { EmbeddingQueue } from '../indexing/embedding-queue.js';

const LOCK = 'knowledge:embedding-models';

/** The embedding models of the installation: the one that serves, the one that is being built to replace it, and retired ones. */
@Injectable()
export class EmbeddingModels {
  private readonly known: TtlCache<readonly StoredEmbeddingModel[]>;

  constructor(
    private readonly models: EmbeddingModelRepository,
    private readonly vectors: VectorRepository,
    private readonly endpoint: EmbeddingModel,
    private readonly texts: EmbedTexts,
    private readonly database: Database,
    private readonly queue: EmbeddingQueue,
    private readonly logger: Logger,
    clock: Clock,
  ) {
    this.known = new TtlCache({ clock, ttlMs: MODELS_CACHE_MS, maxEntries: 1 });
  }

  /** The model whose vectors queries are compared with. */
  async findServing(): Promise<StoredEmbeddingModel | undefined> {
    return (await this.list()).find(({ state }) => state === 'serving');
  }

  /** The models that each chunk needs a vector of; the one that serves comes first. */
  async listActive(): Promise<StoredEmbeddingModel[]> {
    const models = (await this.list()).filter(({ state }) => state !== 'retired');
    return models.sort((left) => (left.state === 'serving' ? -1 : 1));
  }

  /**
   * Applies the model of the settings. It serves at once if no other does; otherwise it is built while the other serves. Setting the
   * serving model again retires the one that is being built. A retired model that is set again uses its remaining vectors.
   */
  async applyConfigured(): Promise<void> {
    const name = this.endpoint.model;
    if (name === undefined) return;
    await this.change(async (transaction, models) => {
      const serving = models.find(({ state }) => state === 'serving');
      const building = models.find(({ state }) => state === 'building');
      if (building?.name === name) return false;
      if (building) await this.models.setState(transaction, building.id, 'retired');
      if (serving?.name === name) return building !== undefined;
      const retired = models.find((model) => model.state === 'retired' && model.name === name);
      if (retired && serving) await this.models.setState(transaction, retired.id, 'building');
      else await this.models.add(transaction, { name, dimensions: null, state: serving ? 'building' : 'serving' });
      if (serving)
        this.logger.info(
          { from: serving.name, to: name },
          'The embedding model has changed: all knowledge is embedded with the new model while the vectors of the old one serve',
        );
      return true;
    });
  }

  /** Builds a model in place of one whose vectors now have another size under the same name: the two cannot be compared. */
  async replaceResized({ id, name }: StoredEmbeddingModel, dimensions: number): Promise<void> {
    await this.change(async (transaction, models) => {
      const model = models.find((each) => each.id === id);
      const building = models.find(({ state }) => state === 'building');
      if (!model || model.state === 'retired' || model.dimensions === dimensions) return false;
      if (building?.name === name && building.dimensions === dimensions) return false;
      if (building) await this.models.setState(transaction, building.id, 'retired');
      await this.models.add(transaction, { name, dimensions, state: 'building' });
      this.logger.warn(
        { model: name, before: model.dimensions, now: dimensions },
        'The embedding model answers vectors of another size: all knowledge is embedded again',
      );
      return true;
    });
  }

  /** Call it before vectors of a model are stored. @returns the size that all of them must have; the first worker that stores vectors sets it */
  async prepareToStore(model: StoredEmbeddingModel, dimensions: number): Promise<number | undefined> {
    const learned = model.dimensions ?? (await this.learn(model.id, { dimensions }))?.dimensions;
    if (typeof learned !== 'number') return undefined;
    await this.vectors.createIndex(model.id, learned);
    return learned;
  }

  /** Measures the cosine of unrelated texts in each active model that has none yet. The endpoint may fail: the next call tries again. */
  async calibrate(signal: AbortSignal): Promise<void> {
    for (const model of await this.listActive()) {
      if (model.unrelated !== null) continue;
      const { embedded } = await this.texts.execute(model.name, CALIBRATION_TEXTS, signal);
      const vectors = embedded.flatMap(({ vector }) => (vector === null ? [] : [vector]));
      const size = model.dimensions ?? vectors[0]?.length;
      if (vectors.length < CALIBRATION_TEXTS.length || vectors.some(({ length }) => length !== size)) continue;
      const unrelated = unrelatedCosine(vectors);
      if (Number.isFinite(unrelated)) await this.learn(model.id, { unrelated });
    }
  }

  private async learn(id: number, facts: LearnedFacts): Promise<StoredEmbeddingModel | undefined> {
    const learned = await this.models.learn(id, facts);
    this.known.clear();
    return learned;
  }

  /** Lets the model that is being built serve once all chunks have a vector of it. */
  async serveCompleted(): Promise<void> {
    const building = (await this.listActive()).find(({ state }) => state === 'building');
    if (!building || !(await this.models.serve(building.id))) return;
    this.known.clear();
    this.logger.info(
      { model: building.name },
      'All knowledge has been embedded with the new embedding model, which now serves',
    );
    await this.database.transaction((transaction) => this.queue.enqueueAllAgents(transaction));
  }

  /** Removes the vectors of retired models, in short statements. */
  async removeRetired(signal: AbortSignal): Promise<void> {
    for (const { id } of (await this.models.list()).filter(({ state }) => state === 'retired')) {
      do signal.throwIfAborted();
      while (await this.vectors.removeSome(id));
      // Only now: until the row is removed, `applyConfigured` may choose the model again.
      if (await this.models.remove(id)) await this.vectors.dropIndex(id);
    }
  }

  private async list(): Promise<readonly StoredEmbeddingModel[]> {
    return (await this.known.get('all', () => this.models.list())) ?? [];
  }

  private async change(
    work: (transaction: Transaction, models: readonly StoredEmbeddingModel[]) => Promise<boolean>,
  ): Promise<void> {
    await this.database.transaction(async (transaction) => {
      // Processes that start at the same time would add the same model twice.
      await transaction.lock(LOCK);
      if (await work(transaction, await this.models.list(transaction))) await this.queue.enqueueAllAgents(transaction);
    });
    this.known.clear();
  }
}
