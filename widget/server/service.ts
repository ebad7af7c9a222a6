import { Deadline } from './deadline.js';
import { type Fields, isRecord } from './fields.js';
import type { Settings } from './options.js';
import { badGateway, Refusal, RETRY_SECONDS, unavailable, WidgetServerError } from './problems.js';
import { essenceOf, readBounded } from './request-body.js';

export interface ServiceCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** From `/v1` on. */
  readonly path: string;
  readonly body?: object;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** That of the visitor's request. */
  readonly signal: AbortSignal;
  /** Statuses that the visitor's request can cause; others are failures of the service or of the handler's options. */
  readonly relays: readonly number[];
}

type MediaType = 'application/json' | 'text/event-stream';

/** Of a JSON response that is read here. */
const MAX_JSON = 1_048_576;
/** Sent to the visitor, or to the operator. */
const MAX_MESSAGE = 1_000;

/** Sends requests to the service with the API key, and turns its errors into refusals for the visitor. */
export class Service {
  private readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** @throws Refusal */
  async json(call: ServiceCall): Promise<Fields> {
    return this.exchange(call, 'application/json', async (response, signal) => {
      const value = await jsonOf(response, signal);
      if (isRecord(value)) return value;
      throw this.broken(call, response.status, 'sent no JSON object');
    });
  }

  /** @returns a response for the visitor, whose body is that of the service and is not buffered @throws Refusal */
  async relay(call: ServiceCall, type: MediaType): Promise<Response> {
    return this.exchange(call, type, ({ body, status }) => {
      const buffering = type === 'text/event-stream' ? { 'x-accel-buffering': 'no' } : undefined;
      const headers = { 'content-type': `${type}; charset=utf-8`, ...buffering };
      return Promise.resolve(new Response(body, { status, headers }));
    });
  }

  private async exchange<Result>(
    call: ServiceCall,
    type: MediaType,
    use: (response: Response, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const deadline = new Deadline(this.settings.limits.serviceTimeoutMs, call.signal);
    const { signal } = deadline;
    try {
      const response = await this.send(call, signal);
      if (!response.ok) throw await this.refusalOf(call, response, signal);
      if (essenceOf(response.headers.get('content-type')) === type) return await use(response, signal);
      discard(response);
      throw this.broken(call, response.status, `sent no ${type}`);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      call.signal.throwIfAborted();
      const what = deadline.isOver ? 'did not answer in time' : 'cannot be reached';
      this.report(call, what, { cause: error });
      throw unavailable(503, 'service_unavailable', RETRY_SECONDS);
    } finally {
      deadline.end();
    }
  }

  private send({ method, path, body, form, headers }: ServiceCall, signal: AbortSignal): Promise<Response> {
    const { serviceUrl, apiKey, fetch } = this.settings;
    return fetch(`${serviceUrl}${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: form }),
      // Another host must not get the key.
      redirect: 'manual',
      signal,
    });
  }

  private async refusalOf(call: ServiceCall, response: Response, signal: AbortSignal): Promise<Refusal> {
    const { code, message } = this.errorOf(await jsonOf(response, signal));
    // A thread of an agent that the key does not reach is as good as none.
    const isHidden = code === 'forbidden_by_agent_allowlist' && call.relays.includes(404);
    const status = isHidden ? 404 : response.status;
    if (status === 429 || status === 503) {
      return unavailable(status, code ?? 'service_unavailable', secondsOf(response.headers.get('retry-after')));
    }
    if (call.relays.includes(status))
      return new Refusal(status, code ?? 'refused', message ?? 'The service refused it.');
    return this.broken(call, status, `answered ${status}${code === null ? '' : ` (${code})`}: ${message ?? ''}`, code);
  }

  /** Without the key, in case the response repeats the request. */
  private errorOf(body: unknown): { code: string | null; message: string | null } {
    const { code, error, message } = isRecord(body) ? body : {};
    const name = code ?? error;
    const isName = typeof name === 'string' && /^\w{1,64}$/.test(name);
    const text = typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : null;
    return {
      code: isName && !name.includes(this.settings.apiKey) ? name : null,
      message: text?.replaceAll(this.settings.apiKey, '…') ?? null,
    };
  }

  private broken(call: ServiceCall, status: number, what: string, code: string | null = null): Refusal {
    this.report(call, what, { status, code });
    return badGateway();
  }

  private report(
    { method, path }: ServiceCall,
    what: string,
    details: ConstructorParameters<typeof WidgetServerError>[1],
  ): void {
    this.settings.report(new WidgetServerError(`${method} ${path}: the service ${what}`, details));
  }
}

/** @returns undefined for a body that is no JSON or too large */
async function jsonOf(response: Response, signal: AbortSignal): Promise<unknown> {
  if (!response.body) return undefined;
  if (essenceOf(response.headers.get('content-type')) !== 'application/json') {
    discard(response);
    return undefined;
  }
  const bytes = await readBounded(response.body, MAX_JSON, signal);
  if (bytes === 'too_large') return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Closes the connection. */
function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined);
}

function secondsOf(retryAfter: string | null): string | null {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? retryAfter : null;
}
