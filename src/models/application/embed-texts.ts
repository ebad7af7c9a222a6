import { Injectable } from '@nestjs/common';
import {
  EmbeddingModel,
  type EmbeddingResult,
  MAX_EMBEDDED_CHARACTERS,
  MAX_EMBEDDED_TEXTS,
} from '../domain/embedding-model.js';
import { Logger } from '../../platform/telemetry/index.js';
import { SHORTENED_CHARACTERS } from './limits.js';

/** An answer without vectors. */
export type EmbeddingFailure = Exclude<EmbeddingResult, { readonly kind: 'vectors' }>;

/** Of one text: its vector, or null where the endpoint will not have it although it takes others. */
export interface EmbeddedText {
  readonly position: number;
  readonly vector: readonly number[] | null;
}

export interface EmbeddedTexts {
  readonly embedded: readonly EmbeddedText[];
  /** Why the rest is not among them. */
  readonly failure: EmbeddingFailure | undefined;
}

interface Text {
  readonly position: number;
  readonly text: string;
}

/** Any endpoint takes this, or it takes nothing. */
const PROBE = 'The quick brown fox jumps over the lazy dog.';

/** Texts of any number and size, in requests that the endpoint takes. */
@Injectable()
export class EmbedTexts {
  private refusal: string | undefined;

  constructor(
    private readonly endpoint: EmbeddingModel,
    private readonly logger: Logger,
  ) {}

  /** Ends with the first failure that is the endpoint's; a text that it will not have is found out and left without. */
  async execute(model: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddedTexts> {
    const embedded: EmbeddedText[] = [];
    const all = texts.map((text, position) => ({
      position,
      text: text.slice(0, MAX_EMBEDDED_CHARACTERS).toWellFormed(),
    }));
    for (const batch of requestsOf(all)) {
      const failure = await this.batch(model, batch, embedded, signal);
      if (failure) return { embedded, failure };
    }
    return { embedded, failure: undefined };
  }

  private async batch(
    model: string,
    texts: readonly Text[],
    into: EmbeddedText[],
    signal: AbortSignal,
  ): Promise<EmbeddingFailure | undefined> {
    const failure = await this.request(model, texts, into, signal);
    if (failure?.kind !== 'refused') {
      if (!failure) this.answersAgain();
      return failure;
    }
    // Is it one of the texts, or all that this service could ask?
    const probe = await this.endpoint.embed(model, [PROBE], signal);
    if (probe.kind !== 'vectors') {
      if (probe.kind === 'refused') this.refused(model, probe);
      return probe;
    }
    return this.halves(model, texts, into, signal);
  }

  private async halves(
    model: string,
    texts: readonly Text[],
    into: EmbeddedText[],
    signal: AbortSignal,
  ): Promise<EmbeddingFailure | undefined> {
    const [only] = texts;
    if (texts.length <= 1) return only && this.shortened(model, only, into, signal);
    const middle = Math.ceil(texts.length / 2);
    for (const half of [texts.slice(0, middle), texts.slice(middle)]) {
      let failure = await this.request(model, half, into, signal);
      if (failure?.kind === 'refused') failure = await this.halves(model, half, into, signal);
      if (failure) return failure;
    }
    return undefined;
  }

  private async shortened(
    model: string,
    { position, text }: Text,
    into: EmbeddedText[],
    signal: AbortSignal,
  ): Promise<EmbeddingFailure | undefined> {
    const short = text.slice(0, SHORTENED_CHARACTERS).toWellFormed();
    const failure = await this.request(model, [{ position, text: short }], into, signal);
    if (failure?.kind !== 'refused') return failure;
    this.logger.warn(
      { model, characters: text.length, status: failure.status, detail: failure.detail },
      'The embeddings endpoint refuses a text, which is found by words alone',
    );
    into.push({ position, vector: null });
    return undefined;
  }

  private async request(
    model: string,
    texts: readonly Text[],
    into: EmbeddedText[],
    signal: AbortSignal,
  ): Promise<EmbeddingFailure | undefined> {
    const result = await this.endpoint.embed(
      model,
      texts.map(({ text }) => text),
      signal,
    );
    if (result.kind !== 'vectors') return result;
    for (const [index, { position }] of texts.entries()) into.push({ position, vector: result.vectors[index] ?? null });
    return undefined;
  }

  /** What only the operator can mend is told once, not with every pause. */
  private refused(model: string, { status, detail }: EmbeddingFailure & { readonly kind: 'refused' }): void {
    if (this.refusal === `${model} ${status}`) return;
    this.refusal = `${model} ${status}`;
    this.logger.error(
      { model, status, detail },
      'The embeddings endpoint refuses whatever it is asked: see EMBEDDINGS_API_KEY, EMBEDDINGS_MODEL and EMBEDDINGS_BASE_URL',
    );
  }

  private answersAgain(): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.logger.info({}, 'The embeddings endpoint answers again');
  }
}

function* requestsOf(texts: readonly Text[]): Generator<readonly Text[]> {
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
