import { createHash } from 'node:crypto';
import { type Exchange, FakeUpstream } from './fake-upstream.js';

/** Words with the same meaning have the same vector, so that texts without a common word can be found. */
const SYNONYMS = [
  ['car', 'automobile', 'vehicle', 'auto'],
  ['doctor', 'physician', 'medic'],
  ['buy', 'purchase', 'acquire'],
  ['holiday', 'vacation', 'leave'],
];

/** Handles a request; returns false to let the server answer it. */
export type EmbeddingFault = (exchange: Exchange, request: EmbeddingRequest) => boolean;

export interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
}

/** A server with the embeddings API of OpenAI. A vector is the sum of the vectors of its text's words. */
export class EmbeddingServer {
  readonly requests: EmbeddingRequest[] = [];
  /** Texts for which vectors were returned, in order. */
  readonly embedded: string[] = [];
  dimensions = 64;
  fault: EmbeddingFault = () => false;
  /** Replaces the sum of the words as the meaning of a text. */
  meaningOf: ((text: string) => readonly number[]) | undefined;

  private constructor(private readonly upstream: FakeUpstream) {}

  static async start(): Promise<EmbeddingServer> {
    const upstream = await FakeUpstream.start();
    const server = new EmbeddingServer(upstream);
    upstream.respond((exchange) => server.answer(exchange));
    return server;
  }

  get baseUrl(): string {
    return `${this.upstream.url}/v1`;
  }

  /** The environment of a service that uses it. */
  get environment(): Record<string, string> {
    return { EMBEDDINGS_BASE_URL: this.baseUrl, EMBEDDINGS_MODEL: 'test-1' };
  }

  get sent(): FakeUpstream['requests'] {
    return this.upstream.requests;
  }

  /** How often a text with these words was embedded. */
  timesEmbedded(words: string): number {
    return this.embedded.filter((text) => text.includes(words)).length;
  }

  close(): Promise<void> {
    return this.upstream.close();
  }

  private answer(exchange: Exchange): void {
    const { model, input } = exchange.request.body as { readonly model: string; readonly input: readonly string[] };
    const request = { model, texts: input };
    this.requests.push(request);
    if (this.fault(exchange, request)) return;
    this.embedded.push(...input);
    exchange.refuse(
      200,
      answerOf(input.map((text) => this.meaningOf?.(text) ?? vectorOf(text, this.dimensions, model))),
    );
  }
}

/** The API's response with these vectors. */
export function answerOf(vectors: readonly (readonly number[])[]): object {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: 'test', usage: { prompt_tokens: 1, total_tokens: 1 } };
}

/** Has length 1. Other models have other vectors for the same words. */
export function vectorOf(text: string, dimensions: number, model = 'test-1'): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const meaning = SYNONYMS.find((group) => group.includes(word))?.[0] ?? word;
    const hash = createHash('sha256').update(`${model} ${meaning}`).digest();
    for (let at = 0; at < 4; at += 1) {
      const place = hash.readUInt16BE(at * 4) % dimensions;
      vector[place] = (vector[place] ?? 0) + (hash[at * 4 + 2] ?? 0) / 255 - 0.5;
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((number) => Number((number / length).toFixed(7)));
}
