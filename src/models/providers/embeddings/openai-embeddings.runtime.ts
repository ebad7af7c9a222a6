import type OpenAI from 'openai';
import type { Clock } from '../../../platform/clock/index.js';
import type { EmbeddingsEndpoint } from '../../../platform/config/index.js';
import { EmbeddingModel, type EmbeddingResult } from '../../domain/embedding-model.js';
import { codesIn } from '../shared/error-codes.js';
import { TransportFailure, type TransportProblem, type ModelTransport } from '../shared/transport.js';
import { bounded } from './bounded-answer.js';
import { vectorsIn } from './embedding-answer.js';
import { DETAIL_CHARACTERS, EMBEDDING_MS, MAX_ANSWER_BYTES } from './limits.js';

/** The caller is told that the endpoint is unavailable; the SDKs match on words like "timeout". */
const TOO_LATE = new Error('The endpoint was given up');

/** Any endpoint that speaks OpenAI's embeddings API. */
export class OpenAiEmbeddings extends EmbeddingModel {
  readonly model: string | undefined;
  private readonly apiKey: string | undefined;
  private client: Promise<OpenAI> | undefined;

  constructor(
    private readonly endpoint: EmbeddingsEndpoint | undefined,
    private readonly transport: Pick<ModelTransport, 'fetch'>,
    private readonly clock: Clock,
    private readonly limits = { answerBytes: MAX_ANSWER_BYTES, answerMs: EMBEDDING_MS },
  ) {
    super();
    this.model = endpoint?.model;
    this.apiKey = endpoint?.apiKey;
  }

  async embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<EmbeddingResult> {
    signal.throwIfAborted();
    if (!this.endpoint) throw new Error('There is no endpoint for embeddings');
    this.client ??= this.clientOf(this.endpoint);
    const late = new AbortController();
    const cancel = this.clock.after(this.limits.answerMs, () => late.abort(TOO_LATE));
    try {
      const answer: unknown = await (
        await this.client
      ).embeddings.create(
        // Numbers rather than base64, which not every endpoint knows.
        { model, input: [...texts], encoding_format: 'float' },
        { signal: AbortSignal.any([signal, late.signal]) },
      );
      return vectorsIn(answer, texts.length);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted)
        return { kind: 'unavailable', retryAfterSeconds: undefined, detail: 'no answer in time' };
      return this.failure(error);
    } finally {
      cancel();
    }
  }

  private async clientOf({ baseUrl: baseURL, apiKey }: EmbeddingsEndpoint): Promise<OpenAI> {
    const { OpenAI } = await import('openai');
    return new OpenAI({
      apiKey: apiKey ?? 'none',
      baseURL,
      // Never left to the SDK, which would read the environment.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      defaultHeaders: apiKey === undefined ? { authorization: null } : {},
      fetch: async (input, init) => bounded(await this.transport.fetch(input, init), this.limits.answerBytes),
      maxRetries: 0,
      logLevel: 'off',
    });
  }

  private failure(error: unknown): EmbeddingResult {
    const problem = problemOf(error);
    if (problem === undefined)
      return { kind: 'wrong_answer', detail: this.shown(error instanceof Error ? error.message : String(error)) };
    if (problem.kind !== 'refused')
      return { kind: 'unavailable', retryAfterSeconds: undefined, detail: `the endpoint is ${problem.kind}` };
    const { status, retryAfterSeconds } = problem;
    const detail = `${status} ${codesIn(problem.body)}`.trimEnd();
    if (status === 429) return { kind: 'rate_limited', retryAfterSeconds, detail };
    if (status >= 500 || status === 408 || status === 409) return { kind: 'unavailable', retryAfterSeconds, detail };
    return { kind: 'refused', status, detail };
  }

  /** Some endpoints quote the key that they refuse. */
  private shown(text: string): string {
    const { apiKey } = this;
    return (apiKey === undefined ? text : text.replaceAll(apiKey, '[key]')).slice(0, DETAIL_CHARACTERS);
  }
}

/** The SDK wraps what its `fetch` throws. */
function problemOf(error: unknown): TransportProblem | undefined {
  for (let link: unknown = error; link instanceof Error; link = link.cause) {
    if (link instanceof TransportFailure) return link.problem;
  }
  return undefined;
}
