import { Injectable } from '@nestjs/common';
import { type EmbeddingFailure, EmbedTexts, MAX_EMBEDDED_TEXTS } from '../../../../models/index.js';
import { Clock } from '../../../../platform/clock/index.js';
import { inBatches } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { embeddedText } from '../../domain/embedded-text.js';
import type { AgentKey } from '../../domain/source-kind.js';
import { type EmbeddingLease, EmbeddingLeaseRepository } from '../../persistence/embedding-lease.repository.js';
import type { StoredEmbeddingModel } from '../../persistence/embeddings.schema.js';
import { type ChunkVector, VectorRepository } from '../../persistence/vector.repository.js';
import {
  FIRST_PAUSE_SECONDS,
  LEASED_PAUSE_SECONDS,
  LOOK_CHUNKS,
  MAX_PAUSE_SECONDS,
  MAX_RETRY_AFTER_SECONDS,
  STORED_CHARACTERS,
} from '../../limits.js';
import { EmbeddingModels } from './embedding-models.js';

/** When the job is to continue with the agent. */
export interface Retry {
  readonly inSeconds: number;
  /** Consecutive failures of the endpoint. */
  readonly failures: number;
}

interface Work extends EmbeddingLease {
  readonly signal: AbortSignal;
}

/** The text of a number in a vector has about this many characters. */
const NUMBER_CHARACTERS = 12;

/** Why the chunks of a model cannot all get their vectors now. `resized`: another model replaces it. */
type Obstacle = EmbeddingFailure | 'resized';

class LeaseLost extends Error {}

/** Makes the vectors of all chunks of an agent, batch by batch. Between two requests this worker holds only its lease on the agent. */
@Injectable()
export class EmbedAgent {
  /** When this process may send requests to the endpoint again: a `Retry-After` applies to all jobs of the process. */
  private pausedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly models: EmbeddingModels,
    private readonly vectors: VectorRepository,
    private readonly leases: EmbeddingLeaseRepository,
    private readonly texts: EmbedTexts,
    private readonly pace: BackgroundPace,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @param failures consecutive failures of the endpoint before this call. @returns undefined if all chunks have their vectors */
  async execute(agent: AgentKey, failures: number, signal: AbortSignal): Promise<Retry | undefined> {
    const pausedMs = this.pausedUntil - this.clock.monotonic();
    if (pausedMs > 0) return { inSeconds: Math.ceil(pausedMs / 1_000), failures };
    const lease = { ...agent, holder: newId(), signal };
    if (!(await this.leases.take(lease))) return { inSeconds: LEASED_PAUSE_SECONDS, failures };
    try {
      await this.models.calibrate(signal);
      const failure = await this.embedWithAllModels(lease);
      if (failure) return this.retryAfter(failure, agent, failures);
      await this.models.serveCompleted();
      return undefined;
    } catch (error) {
      if (error instanceof LeaseLost) return { inSeconds: LEASED_PAUSE_SECONDS, failures };
      throw error;
    } finally {
      await this.leases.release(lease);
    }
  }

  /** The endpoint may refuse the model that serves, because it no longer has it: the next model is built all the same. */
  private async embedWithAllModels(work: Work): Promise<EmbeddingFailure | undefined> {
    const models = await this.models.listActive();
    let last: EmbeddingFailure | undefined;
    for (const model of models) {
      // The endpoint now makes vectors of another size under this name, so it cannot make those of the model that serves.
      if (models.some(({ id, name }) => id !== model.id && name === model.name && model.state === 'serving')) continue;
      const failure = await this.embedChunks(work, model);
      if (failure === 'resized' || !failure) continue;
      if (failure.kind !== 'refused') return failure;
      if (model.state === 'building' || models.length === 1) last = failure;
    }
    return last;
  }

  private async embedChunks(work: Work, model: StoredEmbeddingModel): Promise<Obstacle | undefined> {
    for (;;) {
      const chunkIds = await this.pace.run(() => this.vectors.findChunksWithoutVector(work, model.id, LOOK_CHUNKS));
      if (chunkIds.length === 0) return undefined;
      for (let at = 0; at < chunkIds.length; at += MAX_EMBEDDED_TEXTS) {
        if (!(await this.leases.take(work))) throw new LeaseLost();
        const obstacle = await this.embedBatch(work, model, chunkIds.slice(at, at + MAX_EMBEDDED_TEXTS));
        if (obstacle) return obstacle;
      }
    }
  }

  private async embedBatch(
    { organizationId, signal }: Work,
    model: StoredEmbeddingModel,
    ids: readonly string[],
  ): Promise<Obstacle | undefined> {
    signal.throwIfAborted();
    const copied = new Set(await this.vectors.copyVectors(organizationId, model.id, ids));
    const missing = ids.filter((id) => !copied.has(id));
    const chunks = await this.vectors.readTexts(organizationId, missing);
    // Many chunks may have the same text: a page's footer, or two uploads of one file.
    const distinct = [...new Map(chunks.map((chunk) => [chunk.digest, chunk])).values()];
    const texts = distinct.map(({ title, heading, text }) => embeddedText(title, heading, text));
    const { embedded, failure } = await this.texts.execute(model.name, texts, signal);
    const vectors = new Map(embedded.map(({ position, vector }) => [distinct[position]?.digest, vector]));
    const mismatch = await this.checkSize(model, [...vectors.values()], texts, signal);
    if (mismatch) return mismatch;
    const rows = chunks.flatMap(({ id, digest }) => {
      const vector = vectors.get(digest);
      return vector === undefined ? [] : [{ chunkId: id, digest, vector }];
    });
    const sizeOf = ({ vector }: ChunkVector): number => (vector?.length ?? 0) * NUMBER_CHARACTERS;
    for (const batch of inBatches(rows, sizeOf, STORED_CHARACTERS))
      await this.pace.run(() => this.vectors.store(organizationId, model.id, batch));
    return failure;
  }

  /** Vectors of another size than the model's are an error of the endpoint. If it answers that size twice, the model has changed. */
  private async checkSize(
    model: StoredEmbeddingModel,
    vectors: readonly (readonly number[] | null)[],
    [text = '']: readonly string[],
    signal: AbortSignal,
  ): Promise<Obstacle | undefined> {
    const sizes = new Set(vectors.flatMap((vector) => (vector === null ? [] : [vector.length])));
    const [first] = sizes;
    if (first === undefined) return undefined;
    const dimensions = await this.models.prepareToStore(model, first);
    const other = [...sizes].find((size) => size !== dimensions);
    if (other === undefined) return undefined;
    const { embedded } = await this.texts.execute(model.name, [text], signal);
    if (sizes.size === 1 && embedded[0]?.vector?.length === other) {
      await this.models.replaceResized(model, other);
      return 'resized';
    }
    return { kind: 'wrong_answer', detail: `vectors of ${other} numbers instead of ${dimensions ?? first}` };
  }

  private retryAfter(failure: EmbeddingFailure, { agentId }: AgentKey, failures: number): Retry {
    const requested = 'retryAfterSeconds' in failure ? failure.retryAfterSeconds : undefined;
    const usual = Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(failures, 10), MAX_PAUSE_SECONDS);
    const inSeconds = Math.min(requested ?? usual, MAX_RETRY_AFTER_SECONDS);
    if (requested !== undefined)
      this.pausedUntil = Math.max(this.pausedUntil, this.clock.monotonic() + inSeconds * 1_000);
    this.logger.warn(
      { agentId, failure: failure.kind, detail: failure.detail, inSeconds },
      'The endpoint made no vectors of some chunks; they are tried again',
    );
    return { inSeconds: Math.max(inSeconds, 1), failures: failures + 1 };
  }
}
