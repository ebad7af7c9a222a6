import { Injectable } from '@nestjs/common';
import { type EmbeddingFailure, EmbedTexts, MAX_EMBEDDED_TEXTS } from '../../../../models/index.js';
import { Clock } from '../../../../platform/clock/index.js';
import { inBatches } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { embeddedText } from '../../domain/embedded-text.js';
import type { AgentKey } from '../../domain/source-kind.js';
import { EmbeddingLeaseRepository } from '../../persistence/embedding-lease.repository.js';
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

/** The agent is to be taken up again. */
export interface Again {
  readonly inSeconds: number;
  /** Of the endpoint, one after the other. */
  readonly failures: number;
}

/** Work on one agent, of which this worker has the lease. */
interface Hold extends AgentKey {
  readonly holder: string;
  readonly signal: AbortSignal;
}

/** As endpoints write a number of a vector. */
const NUMBER_CHARACTERS = 12;

class LeaseLost extends Error {}

/** Gives all chunks of an agent their vectors, batch by batch. Between two requests nothing is held but the lease on the agent. */
@Injectable()
export class EmbedAgent {
  /** When the endpoint may be asked again, by every job of this process, whichever it has told. */
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

  /**
   * @param failures of the endpoint before this
   * @returns undefined when no chunk lacks a vector
   */
  async execute(agent: AgentKey, failures: number, signal: AbortSignal): Promise<Again | undefined> {
    const pausedMs = this.pausedUntil - this.clock.monotonic();
    if (pausedMs > 0) return { inSeconds: Math.ceil(pausedMs / 1_000), failures };
    const { organizationId, agentId } = agent;
    const hold = { ...agent, holder: newId(), signal };
    if (!(await this.leases.take(organizationId, agentId, hold.holder)))
      return { inSeconds: LEASED_PAUSE_SECONDS, failures };
    try {
      await this.models.calibrate(signal);
      const failure = await this.allModels(hold);
      if (failure) return this.again(agent, failure, failures);
      await this.models.complete();
      return undefined;
    } catch (error) {
      if (error instanceof LeaseLost) return { inSeconds: LEASED_PAUSE_SECONDS, failures };
      throw error;
    } finally {
      await this.leases.release(organizationId, agentId, hold.holder);
    }
  }

  /** A model that the endpoint no longer knows does not keep the next one from being built. */
  private async allModels(hold: Hold): Promise<EmbeddingFailure | undefined> {
    const models = await this.models.current();
    let last: EmbeddingFailure | undefined;
    for (const model of models) {
      // The same name with another size: the endpoint no longer makes what still serves.
      if (models.some(({ id, name }) => id !== model.id && name === model.name && model.state === 'serving')) continue;
      const failure = await this.fill(hold, model);
      if (failure === 'resized' || !failure) continue;
      if (failure.kind !== 'refused') return failure;
      if (model.state === 'building' || models.length === 1) last = failure;
    }
    return last;
  }

  private async fill(hold: Hold, model: StoredEmbeddingModel): Promise<EmbeddingFailure | 'resized' | undefined> {
    const { organizationId, agentId } = hold;
    for (;;) {
      const lacking = await this.pace.run(() => this.vectors.lacking(organizationId, agentId, model.id, LOOK_CHUNKS));
      if (lacking.length === 0) return undefined;
      for (let at = 0; at < lacking.length; at += MAX_EMBEDDED_TEXTS) {
        if (!(await this.leases.take(organizationId, agentId, hold.holder))) throw new LeaseLost();
        const outcome = await this.batch(hold, model, lacking.slice(at, at + MAX_EMBEDDED_TEXTS));
        if (outcome) return outcome;
      }
    }
  }

  private async batch(
    { organizationId, signal }: Hold,
    model: StoredEmbeddingModel,
    ids: readonly string[],
  ): Promise<EmbeddingFailure | 'resized' | undefined> {
    signal.throwIfAborted();
    const copied = new Set(await this.vectors.copyKnown(organizationId, model.id, ids));
    const chunks = await this.vectors.textsOf(
      organizationId,
      ids.filter((id) => !copied.has(id)),
    );
    // The same text may stand in many chunks: a page's footer, two uploads of one file.
    const unlike = [...new Map(chunks.map((chunk) => [chunk.digest, chunk])).values()];
    const texts = unlike.map(({ title, heading, text }) => embeddedText(title, heading, text));
    const { embedded, failure } = await this.texts.execute(model.name, texts, signal);
    const vectors = new Map(embedded.map(({ position, vector }) => [unlike[position]?.digest, vector]));
    const wrong = await this.wrongSize(model, [...vectors.values()], texts, signal);
    if (wrong) return wrong;
    const rows = chunks.flatMap(({ id, digest }) => {
      const vector = vectors.get(digest);
      return vector === undefined ? [] : [{ chunkId: id, digest, vector }];
    });
    for (const some of inBatches(rows, charactersOf, STORED_CHARACTERS))
      await this.pace.run(() => this.vectors.store(organizationId, model.id, some));
    return failure;
  }

  /** Vectors of another size than the model's are a mistake of the endpoint, unless it makes it twice: then it has changed. */
  private async wrongSize(
    model: StoredEmbeddingModel,
    vectors: readonly (readonly number[] | null)[],
    [text = '']: readonly string[],
    signal: AbortSignal,
  ): Promise<EmbeddingFailure | 'resized' | undefined> {
    const sizes = new Set(vectors.flatMap((vector) => (vector === null ? [] : [vector.length])));
    const [first] = sizes;
    if (first === undefined) return undefined;
    const dimensions = await this.models.prepare(model, first);
    const other = [...sizes].find((size) => size !== dimensions);
    if (other === undefined) return undefined;
    const { embedded } = await this.texts.execute(model.name, [text], signal);
    if (sizes.size === 1 && embedded[0]?.vector?.length === other) {
      await this.models.sizeChanged(model, other);
      return 'resized';
    }
    return { kind: 'wrong_answer', detail: `vectors of ${other} numbers instead of ${dimensions ?? first}` };
  }

  private again({ agentId }: AgentKey, failure: EmbeddingFailure, failures: number): Again {
    const asked = 'retryAfterSeconds' in failure ? failure.retryAfterSeconds : undefined;
    const usual = Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(failures, 10), MAX_PAUSE_SECONDS);
    const inSeconds = Math.min(asked ?? usual, MAX_RETRY_AFTER_SECONDS);
    if (asked !== undefined) this.pausedUntil = Math.max(this.pausedUntil, this.clock.monotonic() + inSeconds * 1_000);
    this.logger.warn(
      { agentId, failure: failure.kind, detail: failure.detail, inSeconds },
      'Chunks wait for their vectors',
    );
    return { inSeconds: Math.max(inSeconds, 1), failures: failures + 1 };
  }
}

/** Of a vector as text. */
function charactersOf({ vector }: ChunkVector): number {
  return (vector?.length ?? 0) * NUMBER_CHARACTERS;
}
