import { createHash } from 'node:crypto';
import { type Exchange, FakeUpstream } from './fake-upstream.js';

/** Words of one meaning: their vectors are the same, so that what shares no word can still be found. */
const SYNONYMS = [
  ['car', 'automobile', 'vehicle', 'auto'],
  ['doctor', 'physician', 'medic'],
  ['buy', 'purchase', 'acquire'],
  ['holiday', 'vacation', 'leave'],
];

/** What is done with a request in place of an answer; false leaves it to the server. */
export type EmbeddingFault = (exchange: Exchange, request: EmbeddingRequest) => boolean;

export interface EmbeddingRequest {
  readonly model: string;
  readonly texts: readonly string[];
}

/** Speaks the embeddings API of OpenAI: a vector is the sum of its text's words. */
export class EmbeddingServer {
  readonly requests: EmbeddingRequest[] = [];
  /** Texts for which vectors were answered, in order. */
  readonly embedded: string[] = [];
  dimensions = 64;
  fault: EmbeddingFault = () => false;
  /** What texts mean, in place of the sum of their words. */
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

  /** What a service needs to use it. */
  get environment(): Record<string, string> {
    return { EMBEDDINGS_BASE_URL: this.baseUrl, EMBEDDINGS_MODEL: 'test-1' };
  }

  get sent(): FakeUpstream['requests'] {
    return this.upstream.requests;
  }

  /** How often a text that holds these words was embedded. */
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

/** An answer with these vectors, as the API has it. */
export function answerOf(vectors: readonly (readonly number[])[]): object {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: 'test', usage: { prompt_tokens: 1, total_tokens: 1 } };
}

/** Of length 1; other models have other vectors for the same words. */
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
