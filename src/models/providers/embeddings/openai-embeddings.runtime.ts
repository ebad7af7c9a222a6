import type { Clock } from '../../../platform/clock/index.js';
import type { EmbeddingsEndpoint } from '../../../platform/config/index.js';
import { EmbeddingModel, type EmbeddingResult } from '../../domain/embedding-model.js';
import { codesIn } from '../shared/error-body.js';
import { type ModelTransport, TransportFailure } from '../shared/transport.js';
import { readAnswer, vectorsIn } from './embedding-answer.js';

/** Most time for one request for vectors. */
const EMBEDDING_MS = 60_000;
/** Size of a response: 64 vectors of 4,096 numbers with 24 characters each are 6 MiB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Characters of an endpoint's error message in the log. */
const DETAIL_CHARACTERS = 500;

/** Any endpoint with OpenAI's embeddings API. */
export class OpenAiEmbeddings extends EmbeddingModel {
  readonly model: string | undefined;

  constructor(
    private readonly endpoint: EmbeddingsEndpoint | undefined,
    private readonly transport: Pick<ModelTransport, 'fetch'>,
    private readonly clock: Clock,
    private readonly limits = { answerBytes: MAX_ANSWER_BYTES, answerMs: EMBEDDING_MS },
  ) {
    super();
    this.model = endpoint?.model;
  }

  async embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResult> {
    signal.throwIfAborted();
    if (!this.endpoint) throw new Error('No endpoint for embeddings is configured');
    const { baseUrl, apiKey } = this.endpoint;
    const late = new AbortController();
    const cancel = this.clock.after(this.limits.answerMs, () => late.abort());
    const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    try {
      const response = await this.transport.fetch(`${baseUrl}/embeddings`, {
        headers: { accept: 'application/json', 'content-type': 'application/json', ...key },
        // Some endpoints do not support base64.
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        signal: AbortSignal.any([signal, late.signal]),
      });
      return vectorsIn(await readAnswer(response, this.limits.answerBytes), texts.length);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted)
        return { kind: 'unavailable', retryAfterSeconds: undefined, detail: 'the endpoint did not answer in time' };
      return this.failure(error);
    } finally {
      cancel();
    }
  }

  private failure(error: unknown): EmbeddingResult {
    if (!(error instanceof TransportFailure))
      return { kind: 'wrong_answer', detail: this.withoutKey(error instanceof Error ? error.message : String(error)) };
    const { problem } = error;
    if (problem.kind !== 'refused')
      return { kind: 'unavailable', retryAfterSeconds: undefined, detail: `the endpoint is ${problem.kind}` };
    const { status, retryAfterSeconds } = problem;
    const detail = `${status} ${codesIn(problem.body)}`.trimEnd();
    if (status === 429) return { kind: 'rate_limited', retryAfterSeconds, detail };
    if (status >= 500 || status === 408 || status === 409) return { kind: 'unavailable', retryAfterSeconds, detail };
    return { kind: 'refused', status, detail };
  }

  /** The parser quotes the response, and some endpoints quote the key in it. */
  private withoutKey(text: string): string {
    const { apiKey } = this.endpoint ?? {};
    return (apiKey === undefined ? text : text.replaceAll(apiKey, '[key]')).slice(0, DETAIL_CHARACTERS);
  }
}
