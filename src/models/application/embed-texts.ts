import { Injectable } from '@nestjs/common';
import {
  EmbeddingModel,
  type EmbeddingResult,
  MAX_EMBEDDED_CHARACTERS,
  MAX_EMBEDDED_TEXTS,
} from '../domain/embedding-model.js';
import { Logger } from '../../platform/telemetry/index.js';

export type EmbeddingFailure = Exclude<EmbeddingResult, { readonly kind: 'vectors' }>;

/** The vector of one text, or null if the endpoint refuses this text and accepts others. */
export interface EmbeddedText {
  readonly position: number;
  readonly vector: readonly number[] | null;
}

export interface EmbeddedTexts {
  readonly embedded: readonly EmbeddedText[];
  /** Why the other texts are missing; undefined if none is. */
  readonly failure: EmbeddingFailure | undefined;
}

interface Work {
  readonly model: string;
  readonly embedded: EmbeddedText[];
  readonly signal: AbortSignal;
}

interface Text {
  readonly position: number;
  readonly text: string;
}

/** A refused text is sent once more, cut to this length: fewer than the 512 tokens of small models, in any script. */
const SHORTENED_CHARACTERS = 400;
/** An endpoint that refuses this text refuses all: its settings are wrong. */
const PROBE = 'The quick brown fox jumps over the lazy dog.';

/** Embeds any number of texts of any size, in requests that the endpoint accepts. */
@Injectable()
export class EmbedTexts {
  private refusal: string | undefined;

  constructor(
    private readonly endpoint: EmbeddingModel,
    private readonly logger: Logger,
  ) {}

  /** Stops at the first failure of the endpoint. A text that the endpoint refuses gets no vector; the others do. */
  async execute(model: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddedTexts> {
    const work: Work = { model, embedded: [], signal };
    const all = texts.map((text, position) => ({
      position,
      text: text.slice(0, MAX_EMBEDDED_CHARACTERS).toWellFormed(),
    }));
    for (const batch of batches(all)) {
      const failure = await this.embedBatch(work, batch);
      if (failure) return { embedded: work.embedded, failure };
    }
    return { embedded: work.embedded, failure: undefined };
  }

  private async embedBatch(work: Work, texts: readonly Text[]): Promise<EmbeddingFailure | undefined> {
    const failure = await this.request(work, texts);
    if (failure?.kind !== 'refused') {
      if (!failure) this.logRecovery();
      return failure;
    }
    // Tells a refused text from wrong settings.
    const probe = await this.endpoint.embed(work.model, [PROBE], work.signal);
    if (probe.kind === 'vectors') return this.embedHalves(work, texts);
    if (probe.kind === 'refused') this.logRefusal(work.model, probe);
    return probe;
  }

  private async embedHalves(work: Work, texts: readonly Text[]): Promise<EmbeddingFailure | undefined> {
    const [only] = texts;
    if (texts.length <= 1) return only && this.embedShortened(work, only);
    const middle = Math.ceil(texts.length / 2);
    for (const half of [texts.slice(0, middle), texts.slice(middle)]) {
      let failure = await this.request(work, half);
      if (failure?.kind === 'refused') failure = await this.embedHalves(work, half);
      if (failure) return failure;
    }
    return undefined;
  }

  private async embedShortened(work: Work, { position, text }: Text): Promise<EmbeddingFailure | undefined> {
    const short = text.slice(0, SHORTENED_CHARACTERS).toWellFormed();
    const failure = await this.request(work, [{ position, text: short }]);
    if (failure?.kind !== 'refused') return failure;
    this.logger.warn(
      { model: work.model, characters: text.length, status: failure.status, detail: failure.detail },
      'The embeddings endpoint refuses a text; searches find it by its words only',
    );
    work.embedded.push({ position, vector: null });
    return undefined;
  }

  private async request(
    { model, embedded, signal }: Work,
    texts: readonly Text[],
  ): Promise<EmbeddingFailure | undefined> {
    const sent = texts.map(({ text }) => text);
    const result = await this.endpoint.embed(model, sent, signal);
    if (result.kind !== 'vectors') return result;
    texts.forEach(({ position }, index) => embedded.push({ position, vector: result.vectors[index] ?? null }));
    return undefined;
  }

  /** Once, not with every attempt: only the operator can correct the settings. */
  private logRefusal(model: string, { status, detail }: EmbeddingFailure & { readonly kind: 'refused' }): void {
    if (this.refusal === `${model} ${status}`) return;
    this.refusal = `${model} ${status}`;
    this.logger.error(
      { model, status, detail },
      'The embeddings endpoint refuses every request: check EMBEDDINGS_API_KEY, EMBEDDINGS_MODEL and EMBEDDINGS_BASE_URL',
    );
  }

  private logRecovery(): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.logger.info({}, 'The embeddings endpoint accepts requests again');
  }
}

function* batches(texts: readonly Text[]): Generator<readonly Text[]> {
  let request: Text[] = [];
  let characters = 0;
  for (const each of texts) {
    const full = request.length === MAX_EMBEDDED_TEXTS || characters + each.text.length > MAX_EMBEDDED_CHARACTERS;
    if (request.length > 0 && full) {
      yield request;
      [request, characters] = [[], 0];
    }
    request.push(each);
    characters += each.text.length;
  }
  if (request.length > 0) yield request;
}
