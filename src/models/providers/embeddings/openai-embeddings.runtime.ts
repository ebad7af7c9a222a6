import type OpenAI from 'openai';
import type { Clock } from '../../../platform/clock/index.js';
import type { EmbeddingsEndpoint } from '../../../platform/config/index.js';
import { EmbeddingModel, type EmbeddingResult } from '../../domain/embedding-model.js';
import { codesIn } from '../shared/error-codes.js';
import { TransportFailure, type TransportProblem, type ModelTransport } from '../shared/transport.js';
import { bounded } from './bounded-answer.js';
import { vectorsIn } from './embedding-answer.js';
import { DETAIL_CHARACTERS, EMBEDDING_MS, MAX_ANSWER_BYTES } from './limits.js';

/** The message avoids "timeout": the SDK would replace such an error by its own. */
const TOO_LATE = new Error('The endpoint took too long');

/** Any endpoint with OpenAI's embeddings API. */
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
    if (!this.endpoint) throw new Error('No endpoint for embeddings is configured');
    this.client ??= this.makeClient(this.endpoint);
    const late = new AbortController();
    const cancel = this.clock.after(this.limits.answerMs, () => late.abort(TOO_LATE));
    try {
      const answer: unknown = await (
        await this.client
      ).embeddings.create(
        // Some endpoints do not support base64.
        { model, input: [...texts], encoding_format: 'float' },
        { signal: AbortSignal.any([signal, late.signal]) },
      );
      return vectorsIn(answer, texts.length);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted)
        return { kind: 'unavailable', retryAfterSeconds: undefined, detail: 'the endpoint did not answer in time' };
      return this.failure(error);
    } finally {
      cancel();
    }
  }

  private async makeClient({ baseUrl: baseURL, apiKey }: EmbeddingsEndpoint): Promise<OpenAI> {
    const { OpenAI } = await import('openai');
    return new OpenAI({
      apiKey: apiKey ?? 'none',
      baseURL,
      // The SDK would read absent values from the environment.
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
    const problem = findProblem(error);
    if (problem === undefined)
      return { kind: 'wrong_answer', detail: this.withoutKey(error instanceof Error ? error.message : String(error)) };
    if (problem.kind !== 'refused')
      return { kind: 'unavailable', retryAfterSeconds: undefined, detail: `the endpoint is ${problem.kind}` };
    const { status, retryAfterSeconds } = problem;
    const detail = `${status} ${codesIn(problem.body)}`.trimEnd();
    if (status === 429) return { kind: 'rate_limited', retryAfterSeconds, detail };
    if (status >= 500 || status === 408 || status === 409) return { kind: 'unavailable', retryAfterSeconds, detail };
    return { kind: 'refused', status, detail };
  }

  /** Some endpoints quote the key that they refuse. */
  private withoutKey(text: string): string {
    const { apiKey } = this;
    return (apiKey === undefined ? text : text.replaceAll(apiKey, '[key]')).slice(0, DETAIL_CHARACTERS);
  }
}

/** The SDK wraps what its `fetch` throws. */
function findProblem(error: unknown): TransportProblem | undefined {
  for (let link: unknown = error; link instanceof Error; link = link.cause) {
    if (link instanceof TransportFailure) return link.problem;
  }
  return undefined;
}
