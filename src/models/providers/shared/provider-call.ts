import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock/index.js';
import { ModelFailure, type ModelFailureCode } from '../../domain/model-failure.js';
import type { ModelMessage, RuntimeRequest } from '../../domain/model-runtime.js';
import { codesIn, codesOf } from './error-body.js';
import { CLIENT_CACHE_SIZE, DRAIN_MS } from './limits.js';
import { formatRefusal, schemaRefusal } from './schema-refusal.js';
import { TransportFailure, type TransportProblem } from './transport.js';

export interface ProviderAccess {
  /** The operator's key; absent means that only agents with their own key can run. */
  readonly managedKey: string | undefined;
  /** Replaces the public address of the provider. */
  readonly baseUrl: string | undefined;
}

const MESSAGES: Readonly<Record<ModelFailureCode, string>> = {
  provider_error: 'The model provider failed while answering.',
  provider_rate_limited: 'The model provider is limiting requests; try again later.',
  provider_auth: 'The model provider refused the API key.',
  provider_overloaded: 'The model provider is overloaded; try again later.',
  context_too_long: 'The conversation is longer than the model can read.',
};

/** Behind a gateway the service cannot tell which of the two refused. */
const ROUTED_REFUSAL = 'The gateway, or the model provider behind it, refused the credentials of the request.';

/** Providers have no common code for a refused attachment; in a request with files these are the likeliest cause. */
const ATTACHMENT_REFUSAL = 'The model provider refused the request. It may not take one of the attachments.';

/** OpenAI reports an unusable image inside the response, with codes such as `invalid_image` and `image_too_large`. */
const IMAGE_REFUSED = /^\w*image\w* /;

/** The abort reason of every ended call. A new default reason for each would cost more than the abort. */
const CALL_OVER = new Error('The call to the provider has ended');

/** One call to a provider: its key, its abort signal, its end and its failure. */
export class ProviderCall {
  private readonly controller = new AbortController();
  private readonly abort = (): void => {
    this.controller.abort(this.outer.reason);
  };
  private cancelDrain: (() => void) | undefined;
  /** The response was read to its end, so there is no connection to close. */
  isRead = false;
  /** The agent's own key, else the operator's. */
  readonly key: string;
  /** The route's base address, else the operator's setting; undefined for the provider's public one. */
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    private readonly request: RuntimeRequest,
    access: ProviderAccess,
    private readonly outer: AbortSignal,
    private readonly clock: Clock,
  ) {
    outer.throwIfAborted();
    const { apiKey = access.managedKey, route } = request;
    if (apiKey === undefined) {
      const message = 'There is no API key for this model provider.';
      throw new ModelFailure('provider_auth', message, { retryable: false, ownKey: false });
    }
    this.key = apiKey;
    this.baseUrl = route?.baseUrl ?? access.baseUrl;
    this.headers = route?.headers ?? {};
    outer.addEventListener('abort', this.abort, { once: true });
  }

  /** A signal for this call only, because the SDKs leave listeners on it. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The provider has sent its last event. Reads the rest of the response for at most `DRAIN_MS`. */
  drain(): void {
    this.cancelDrain ??= this.clock.after(DRAIN_MS, () => {
      this.controller.abort(CALL_OVER);
    });
  }

  get drained(): boolean {
    return this.cancelDrain !== undefined;
  }

  /** Closes the connection, unless the response was read to its end. */
  close(): void {
    this.outer.removeEventListener('abort', this.abort);
    this.cancelDrain?.();
    if (!this.isRead) this.controller.abort(CALL_OVER);
  }

  /** What to throw for `error`: the reason of the caller's signal after an abort, else a `ModelFailure`. */
  failure(error: unknown): unknown {
    if (this.outer.aborted) return this.outer.reason;
    if (error instanceof ModelFailure) return error;
    const problem = findProblem(error);
    if (problem === undefined)
      return this.broken(`the SDK threw ${error instanceof Error ? error.name : typeof error}`, error);
    if (problem.kind !== 'refused') {
      const retryable = problem.kind === 'unreachable';
      return this.fail('provider_error', { retryable, detail: `the provider is ${problem.kind}`, cause: error });
    }
    // No cause: logs print causes, and this one contains the body of the refusal, which may quote the key.
    const { status, body, retryAfterSeconds } = problem;
    const { code, ...facts } = classify(status, body);
    const detail = `${status} ${codesIn(body)}`.trimEnd();
    const refusal = facts.unacceptable === true && status === 400 ? this.refusalIn(body) : {};
    const reason = Object.keys(refusal).length > 0 ? { retryable: false, ...refusal } : facts;
    return this.fail(code, { ...reason, retryAfterSeconds, detail });
  }

  /** Both where the provider names neither a tool nor the response format, and may mean either. */
  private refusalIn(body: string): Pick<ModelFailure['facts'], 'refusedSchemas' | 'refusedFormat'> {
    const { tools, route, responseFormat } = this.request;
    const secrets = [this.key, route?.secret ?? ''];
    const refusedSchemas = schemaRefusal(body, tools, secrets);
    if (!responseFormat || (refusedSchemas && refusedSchemas.tools.length > 0))
      return refusedSchemas ? { refusedSchemas } : {};
    const refusedFormat = formatRefusal(body, secrets);
    return { ...(refusedSchemas && { refusedSchemas }), ...(refusedFormat && { refusedFormat }) };
  }

  /** A response that failed after it began. Such a call is not repeated. */
  broken(detail: string, cause?: unknown): ModelFailure {
    return this.fail('provider_error', { retryable: false, detail, cause });
  }

  /** An error that the provider reports inside its response. @param given its code, if the message does not contain it as JSON */
  reported(message: string, given?: string | null): ModelFailure {
    const words = `${given ?? ''} ${message}`.trimStart();
    const code = CONTEXT_OVERFLOW.test(words) ? 'context_too_long' : 'provider_error';
    const detail = `the provider reported ${codesOf(given) || codesIn(message)}`.trimEnd();
    return this.fail(code, { retryable: false, detail, ...(IMAGE_REFUSED.test(words) ? { unacceptable: true } : {}) });
  }

  endedEarly(): ModelFailure {
    return this.broken('the response ended without its last event');
  }

  private messageOf(
    code: ModelFailureCode,
    { unacceptable, refusedSchemas, refusedFormat }: Omit<ModelFailure['facts'], 'ownKey' | 'retryable'>,
  ): string {
    if (code === 'provider_auth' && this.request.route) return ROUTED_REFUSAL;
    if (refusedFormat) return 'The model provider refused the response format.';
    if (refusedSchemas) {
      const [name] = refusedSchemas.tools;
      return `The model provider refused the schema of ${name === undefined ? 'a tool without naming the tool' : `the tool ${name}`}.`;
    }
    return unacceptable === true && this.request.messages.some(hasFiles) ? ATTACHMENT_REFUSAL : MESSAGES[code];
  }

  private fail(code: ModelFailureCode, facts: Omit<ModelFailure['facts'], 'ownKey'>): ModelFailure {
    return new ModelFailure(code, this.messageOf(code, facts), { ...facts, ownKey: this.request.apiKey !== undefined });
  }
}

function hasFiles(message: ModelMessage): boolean {
  if (message.role === 'assistant') return false;
  return (message.role === 'user' ? message.attachments : message.media) !== undefined;
}

function findProblem(error: unknown): TransportProblem | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TransportFailure) return cause.problem;
  }
  return undefined;
}

interface Classified {
  readonly code: ModelFailureCode;
  readonly retryable: boolean;
  readonly unacceptable?: true;
}

const UNACCEPTABLE: Classified = { code: 'provider_error', retryable: false, unacceptable: true };

function classify(status: number, body: string): Classified {
  switch (status) {
    case 401:
    case 403:
      return { code: 'provider_auth', retryable: false };
    case 429:
      // A used-up quota is also a 429, but waiting does not help.
      return { code: 'provider_rate_limited', retryable: !body.includes('insufficient_quota') };
    case 503:
    case 529:
      return { code: 'provider_overloaded', retryable: true };
    case 400:
      // Gemini reports a wrong key with 400.
      if (body.includes('API_KEY_INVALID')) return { code: 'provider_auth', retryable: false };
      return CONTEXT_OVERFLOW.test(body) ? { code: 'context_too_long', retryable: false } : UNACCEPTABLE;
    case 413:
      return { code: 'context_too_long', retryable: false };
    case 415:
    case 422:
      return UNACCEPTABLE;
    default:
      return { code: 'provider_error', retryable: status >= 500 };
  }
}

/** How providers report a prompt that is too long: two phrases of Anthropic, code and two phrases of OpenAI, one of Gemini. */
const CONTEXT_OVERFLOW = new RegExp(
  [
    'prompt is too long',
    'exceed context limit',
    'context_length_exceeded',
    'exceeds the context window',
    'maximum context length',
    'input token count .{0,40}exceeds the maximum',
  ].join('|'),
  'i',
);

export class ClientCache<Client extends object> {
  private readonly clients: LRUCache<string, Client>;

  constructor(
    private readonly make: (apiKey: string, baseUrl: string | undefined) => Client,
    max: number = CLIENT_CACHE_SIZE,
  ) {
    this.clients = new LRUCache({ max });
  }

  /** @param baseUrl undefined for the public address of the provider */
  get(apiKey: string, baseUrl?: string): Client {
    const name = JSON.stringify([apiKey, baseUrl]);
    const client = this.clients.get(name) ?? this.make(apiKey, baseUrl);
    this.clients.set(name, client);
    return client;
  }
}
