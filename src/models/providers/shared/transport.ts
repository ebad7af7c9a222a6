import { Agent, request } from 'undici';
import type { Clock } from '../../../platform/clock/index.js';
import { retryAfterMs } from '../../../platform/egress/index.js';
import { CONNECT_MS, IDLE_MS, KEEP_ALIVE_MS, REFUSAL_BODY_BYTES } from './limits.js';

/** The messages avoid words like "timeout": the SDKs match them, and would replace the error by their own without these facts. */
export type TransportProblem =
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterSeconds?: number; readonly body: string }
  /** The provider accepted no connection, or closed it before the first byte of the response. */
  | { readonly kind: 'unreachable' }
  /** The connection closed during the response. */
  | { readonly kind: 'broken' }
  /** The provider sent no byte for `IDLE_MS`. */
  | { readonly kind: 'silent' };

export class TransportFailure extends Error {
  constructor(
    readonly problem: TransportProblem,
    cause?: unknown,
  ) {
    const what = problem.kind === 'refused' ? `refused with ${problem.status}` : `is ${problem.kind}`;
    super(`the provider ${what}`, cause === undefined ? undefined : { cause });
    this.name = 'TransportFailure';
  }
}

interface WatchedInit extends RequestInit {
  readonly callSignal?: AbortSignal;
}

/**
 * Options of a request of Anthropic's SDK, which the transport aborts with the signal. The SDK keeps what it gets as `signal` in a
 * `WeakMap` and a `FinalizationRegistry` until the whole heap is collected, and the request, its body and the response with it.
 */
export function abortedBy(signal: AbortSignal): { readonly fetchOptions: object } {
  const fetchOptions: Pick<WatchedInit, 'callSignal'> = { callSignal: signal };
  return { fetchOptions };
}

/**
 * A `fetch` for the SDKs over undici's `request`: undici's `fetch` takes several times as long for each chunk. Follows no redirect,
 * which would send the key elsewhere. Throws for error statuses, because one of the SDKs drops the headers, including `Retry-After`.
 */
export class ModelTransport {
  private readonly agent: Agent;

  constructor(
    private readonly clock: Clock,
    private readonly idleMs: number = IDLE_MS,
  ) {
    this.agent = new Agent({
      connections: null,
      // With HTTP/1.1 an abort closes only the socket of its call, and a broken connection ends only one call.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // `WatchedCall` limits both, on the injected clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: CONNECT_MS },
    });
  }

  readonly fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { headers, chunks } = await this.send(input, init);
    return new Response(ReadableStream.from(chunks), { status: 200, headers });
  };

  /** As `fetch`, for SDKs that only iterate over the body: a web stream costs as much as the request. */
  readonly fetchIterable = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { headers, chunks } = await this.send(input, init);
    const response: Pick<Response, 'ok' | 'status' | 'headers' | 'url'> & { readonly body: AsyncIterable<Uint8Array> } =
      {
        ...{ ok: true, status: 200, headers, url: '', body: chunks },
      };
    return response as unknown as Response;
  };

  private async send(input: string | URL | Request, init: WatchedInit): Promise<Answer> {
    const outer = init.callSignal ?? init.signal ?? undefined;
    const call = new WatchedCall(this.clock, this.idleMs, outer);
    try {
      const answer = await request(input instanceof Request ? input.url : input, {
        dispatcher: this.agent,
        method: 'POST',
        headers: Object.fromEntries(init.headers instanceof Headers ? init.headers : new Headers(init.headers)),
        body: init.body as string,
        signal: call.signal,
      });
      if (answer.statusCode < 200 || answer.statusCode > 299) {
        throw await refusal(answer.statusCode, answer.headers, answer.body, this.clock.now());
      }
      return { headers: flatten(answer.headers), chunks: call.chunks(answer.body) };
    } catch (error) {
      call.end();
      if (outer?.aborted === true) throw outer.reason;
      throw call.explain(error, 'unreachable');
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.agent.destroy();
  }
}

interface Answer {
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
}

type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

function flatten(headers: RawHeaders): Headers {
  return new Headers(Object.entries(headers).map(([name, value = '']) => [name, String(value)] as const));
}

async function refusal(
  status: number,
  headers: RawHeaders,
  chunks: AsyncIterable<Uint8Array>,
  now: Date,
): Promise<TransportFailure> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size >= REFUSAL_BODY_BYTES) break;
  }
  const body = Buffer.concat(parts).subarray(0, REFUSAL_BODY_BYTES).toString('utf8');
  const retryAfterSeconds = retryAfter(headers['retry-after'], body, now);
  return new TransportFailure({ kind: 'refused', status, retryAfterSeconds, body });
}

/** `Retry-After`, or the delay in Google's `RetryInfo` of the body. */
function retryAfter(header: string | string[] | undefined, body: string, now: Date): number | undefined {
  const named = typeof header === 'string' ? header : /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  const ms = retryAfterMs(named, now);
  return ms === null ? undefined : Math.ceil(ms / 1_000);
}

const CANCELLED = new Error('The reader cancelled the response');

/** One request: joins the caller's signal with the idle limit, which applies only while this process waits for bytes. */
class WatchedCall {
  private readonly controller = new AbortController();
  private readonly abort = (): void => {
    // A response that the caller never began to read ends here.
    this.cancelTimer();
    this.controller.abort(this.outer?.reason);
  };
  /** When the wait for the next byte began; null while the reader has not asked for one. */
  private waitingSince: number | null;
  private isSilent = false;
  private cancelTimer: () => void;

  constructor(
    private readonly clock: Clock,
    private readonly idleMs: number,
    private readonly outer: AbortSignal | undefined,
  ) {
    this.waitingSince = this.clock.monotonic();
    this.cancelTimer = this.clock.after(idleMs, this.check);
    if (outer?.aborted === true) this.abort();
    else outer?.addEventListener('abort', this.abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Sets the timer again only when it has expired, so that a token costs no timer. */
  private readonly check = (): void => {
    const waited = this.waitingSince === null ? 0 : this.clock.monotonic() - this.waitingSince;
    if (waited < this.idleMs) {
      this.cancelTimer = this.clock.after(this.idleMs - waited, this.check);
      return;
    }
    this.isSilent = true;
    this.controller.abort(new TransportFailure({ kind: 'silent' }));
  };

  /** The body of the response. Leaving the iteration early closes the connection. */
  chunks(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    this.waitingSince = null;
    return this.read(body);
  }

  private async *read(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const chunks = body[Symbol.asyncIterator]();
    let isComplete = false;
    try {
      for (;;) {
        this.waitingSince = this.clock.monotonic();
        const next = await chunks.next();
        this.waitingSince = null;
        isComplete = next.done === true;
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      throw this.outer?.aborted === true ? this.outer.reason : this.explain(error, 'broken');
    } finally {
      this.end();
      if (!isComplete) this.controller.abort(CANCELLED);
    }
  }

  explain(error: unknown, kind: 'unreachable' | 'broken'): unknown {
    if (this.isSilent) return new TransportFailure({ kind: 'silent' });
    return error instanceof TransportFailure ? error : new TransportFailure({ kind }, error);
  }

  end(): void {
    this.cancelTimer();
    this.outer?.removeEventListener('abort', this.abort);
  }
}
