import { Injectable } from '@nestjs/common';
import { EmbeddingModel, EmbedTexts } from '../../../../models/index.js';
import { TtlCache } from '../../../../platform/cache/index.js';
import { Clock } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { CALIBRATION_TEXTS, unrelatedCosine } from '../../domain/semantic-calibration.js';
import { EmbeddingModelRepository, type LearntFacts } from '../../persistence/embedding-model.repository.js';
import type { StoredEmbeddingModel } from '../../persistence/embeddings.schema.js';
import { VectorRepository } from '../../persistence/vector.repository.js';
import { MODELS_CACHE_MS } from '../../limits.js';
import { EmbeddingQueue } from '../indexing/embedding-queue.js';

/** Which models chunks are embedded by: the one that serves, and the one that is to come. */
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

  /** The one whose vectors queries are compared with. */
  async serving(): Promise<StoredEmbeddingModel | undefined> {
    return (await this.all()).find(({ state }) => state === 'serving');
  }

  /** All that chunks need vectors of, the serving one first. */
  async current(): Promise<StoredEmbeddingModel[]> {
    const models = (await this.all()).filter(({ state }) => state !== 'retired');
    return models.sort((left) => (left.state === 'serving' ? -1 : 1));
  }

  /**
   * What the operator has chosen serves at once where nothing else does; otherwise it is built while the other serves.
   * Going back to the one that serves ends what was being built, and going back to one whose vectors are still being
   * removed takes up those that are left.
   */
  async choose(): Promise<void> {
    const name = this.endpoint.model;
    if (name === undefined) return;
    await this.change(async (transaction, models) => {
      const serving = models.find(({ state }) => state === 'serving');
      const building = models.find(({ state }) => state === 'building');
      if (building?.name === name) return false;
      if (building) await this.models.become(transaction, building.id, 'retired');
      if (serving?.name === name) return building !== undefined;
      const left = models.find((model) => model.state === 'retired' && model.name === name);
      if (left && serving) await this.models.become(transaction, left.id, 'building');
      else await this.models.add(transaction, { name, dimensions: null, state: serving ? 'building' : 'serving' });
      if (serving)
        this.logger.info(
          { from: serving.name, to: name },
          'The embedding model has changed: all knowledge is embedded anew while the vectors of before serve',
        );
      return true;
    });
  }

  /** The endpoint answers vectors of another size under the same name: what is there cannot be compared with them. */
  async sizeChanged({ id, name }: StoredEmbeddingModel, dimensions: number): Promise<void> {
    await this.change(async (transaction, models) => {
      const model = models.find((each) => each.id === id);
      const building = models.find(({ state }) => state === 'building');
      if (!model || model.state === 'retired' || model.dimensions === dimensions) return false;
      if (building?.name === name && building.dimensions === dimensions) return false;
      if (building) await this.models.become(transaction, building.id, 'retired');
      await this.models.add(transaction, { name, dimensions, state: 'building' });
      this.logger.warn(
        { model: name, before: model.dimensions, now: dimensions },
        'The embedding model answers vectors of another size: all knowledge is embedded anew',
      );
      return true;
    });
  }

  /** Before a model's vectors are stored. @returns their size, which is whoever stored the first ones' */
  async prepare(model: StoredEmbeddingModel, dimensions: number): Promise<number | undefined> {
    const learned = model.dimensions ?? (await this.learn(model.id, { dimensions }))?.dimensions;
    if (typeof learned !== 'number') return undefined;
    await this.vectors.makeIndex(model.id, learned);
    return learned;
  }

  /**
   * Learns which cosine unrelated texts have by each model that vectors are made of: one request a model. Where the endpoint does not
   * answer, the model goes without until the next call.
   */
  async calibrate(signal: AbortSignal): Promise<void> {
    for (const model of await this.current()) {
      if (model.unrelated !== null) continue;
      const { embedded } = await this.texts.execute(model.name, CALIBRATION_TEXTS, signal);
      const vectors = embedded.flatMap(({ vector }) => (vector === null ? [] : [vector]));
      const size = model.dimensions ?? vectors[0]?.length;
      if (vectors.length < CALIBRATION_TEXTS.length || vectors.some(({ length }) => length !== size)) continue;
      const unrelated = unrelatedCosine(vectors);
      if (Number.isFinite(unrelated)) await this.learn(model.id, { unrelated });
    }
  }

  private async learn(id: number, facts: LearntFacts): Promise<StoredEmbeddingModel | undefined> {
    const learnt = await this.models.learn(id, facts);
    this.known.clear();
    return learnt;
  }

  /** Once no chunk lacks a vector of it, the model that is being built serves. */
  async complete(): Promise<void> {
    const building = (await this.current()).find(({ state }) => state === 'building');
    if (!building || !(await this.models.serve(building.id))) return;
    this.known.clear();
    this.logger.info(
      { model: building.name },
      'All knowledge has been embedded by the new model, which serves from now on',
    );
    await this.database.transaction((transaction) => this.queue.modelsChanged(transaction));
  }

  /** Removes the vectors of models that serve no more, in short statements. */
  async removeRetired(signal: AbortSignal): Promise<void> {
    for (const { id } of (await this.models.all()).filter(({ state }) => state === 'retired')) {
      do signal.throwIfAborted();
      while (await this.vectors.removeSome(id));
      // Only once nobody can have taken the model up again.
      if (await this.models.remove(id)) await this.vectors.dropIndex(id);
    }
  }

  private async all(): Promise<readonly StoredEmbeddingModel[]> {
    return (await this.known.get('all', () => this.models.all())) ?? [];
  }

  private async change(
    work: (transaction: Transaction, models: readonly StoredEmbeddingModel[]) => Promise<boolean>,
  ): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await this.models.lock(transaction);
      if (await work(transaction, await this.models.all(transaction))) await this.queue.modelsChanged(transaction);
    });
    this.known.clear();
  }
}
