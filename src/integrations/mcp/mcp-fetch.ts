import type { FetchLike } from '@modelcontextprotocol/client';
import type { Turns } from '../../platform/clock/index.js';
import type { EgressAnswer, EgressResponse, SafeHttp } from '../../platform/egress/index.js';
import { CALL_MS, MAX_MESSAGE_BYTES } from '../limits.js';
import { currentExchange, type Exchange } from './exchange.js';
import { failureOfRequest, redirected, sessionLost } from './failure-of.js';
import type { HttpEndpoint } from './mcp-endpoint.js';
import { McpFailure } from './mcp-failure.js';
import { MAX_STREAM_BYTES, NOTICE_MS, STREAM_MS } from './mcp-limits.js';
import { eventsOf, messagesOf, textOf } from './received-answer.js';

/** The latest tokens, which are redacted in what the server sends. */
const MAX_SENT_TOKENS = 4;

export interface McpFetchOptions {
  readonly http: SafeHttp;
  readonly endpoint: HttpEndpoint;
  /** Aborted when the connection is closed. */
  readonly life: AbortSignal;
  /** Whether to open a stream for notifications, which occupies an HTTP connection. */
  readonly wantsNotifications: () => boolean;
  readonly onSessionLost: () => void;
  readonly turns: Turns;
  /** Throws if the streams of the connection exceed their limit with these events and bytes. */
  readonly admit: (events: number, bytes: number) => void;
}

interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** Undefined for the stream of notifications and the end of the session. */
  readonly exchange: Exchange | undefined;
}

/** The `fetch` of the SDK's transports: the safe client with the headers and tokens of one server, for its origin only. */
export class McpFetch {
  readonly fetch: FetchLike = (url, init) => this.request(url, init);
  private readonly origin: string;
  private readonly sentTokens = new Set<string>();

  constructor(private readonly options: McpFetchOptions) {
    this.origin = new URL(options.endpoint.url).origin;
  }

  /** The values that were sent to the server and must be redacted in what it sends. */
  secrets(): readonly string[] {
    const { headers, secrets = Object.values(headers) } = this.options.endpoint;
    return [...secrets, ...this.sentTokens];
  }

  private async request(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const sending = this.sendingOf(new URL(address), init);
    // The SDK then continues without the stream, as for a server that has none.
    if (this.isUnwantedStream(sending)) return new Response(null, { status: 405 });
    try {
      return await this.responseOf(await this.authorized(sending), sending);
    } catch (error) {
      const failure = failureOfRequest(error);
      // The event source of the SSE transport would keep only the message. A GET of the other transport may be repeated.
      const isLast = sending.method === 'POST' || this.options.endpoint.transport === 'sse';
      if (isLast && failure instanceof McpFailure) sending.exchange?.fail(failure);
      throw failure;
    }
  }

  private sendingOf(url: URL, init: RequestInit): Sending {
    if (url.origin !== this.origin) throw new McpFailure('protocol', 'The server sent an endpoint of another server.');
    const method = init.method ?? 'GET';
    const exchange = this.exchangeOf(method);
    const signals = [init.signal, exchange?.ended.signal].flatMap((signal) => signal ?? []);
    return {
      url,
      method,
      // The protocol's headers replace the customer's.
      headers: { ...lowerCase(this.options.endpoint.headers), ...Object.fromEntries(new Headers(init.headers)) },
      body: typeof init.body === 'string' ? init.body : undefined,
      signal: AbortSignal.any([this.options.life, ...signals]),
      exchange,
    };
  }

  /** The stream of notifications does not belong to the exchange in which it is opened, and outlives it. */
  private exchangeOf(method: string): Exchange | undefined {
    const exchange = currentExchange.getStore();
    const isOwn = method === 'POST' || this.options.endpoint.transport === 'sse' || exchange?.isRequest === true;
    return method !== 'DELETE' && isOwn ? exchange : undefined;
  }

  private isUnwantedStream({ method, exchange }: Sending): boolean {
    const { endpoint, wantsNotifications } = this.options;
    return (
      method === 'GET' && exchange === undefined && endpoint.transport === 'streamableHttp' && !wantsNotifications()
    );
  }

  private async authorized(sending: Sending): Promise<EgressResponse> {
    const { tokens } = this.options.endpoint;
    const token = await tokens?.current(sending.signal);
    const answer = await this.send(sending, token);
    const challenge = challengeOf(answer);
    if (challenge === undefined) return answer;
    answer.body.discard();
    if (!tokens || token === undefined) throw unauthorized();
    const successor = await tokens.replace(token, challenge, sending.signal);
    const repeated = await this.send(sending, successor);
    const further = challengeOf(repeated);
    if (further === undefined) return repeated;
    repeated.body.discard();
    // The source stores the missing permissions, and the next sign-in requests them.
    if (repeated.status === 403) await tokens.replace(successor, further, sending.signal);
    throw unauthorized();
  }

  private send(
    { url, method, headers, body, signal, exchange }: Sending,
    token: string | undefined,
  ): Promise<EgressResponse> {
    if (token !== undefined) this.noteToken(token);
    return this.options.http.request(url, {
      purpose: 'mcp',
      method,
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body }),
      maxBytes: (answer) => (isEventStream(answer) ? MAX_STREAM_BYTES : MAX_MESSAGE_BYTES),
      timeoutMs: this.timeoutOf(method, exchange),
      headersTimeoutMs: method === 'GET' ? NOTICE_MS : CALL_MS,
      redirects: 'none',
      signal,
    });
  }

  private noteToken(token: string): void {
    this.sentTokens.delete(token);
    this.sentTokens.add(token);
    const [oldest = ''] = this.sentTokens;
    if (this.sentTokens.size > MAX_SENT_TOKENS) this.sentTokens.delete(oldest);
  }

  /** The answer to a request may be a stream that stays open as long as the connection. The call itself has its own timeout. */
  private timeoutOf(method: string, exchange: Exchange | undefined): number {
    if (method === 'GET') return STREAM_MS;
    if (!exchange?.isRequest) return NOTICE_MS;
    return this.options.endpoint.transport === 'sse' ? CALL_MS : STREAM_MS;
  }

  private async responseOf(answer: EgressResponse, sending: Sending): Promise<Response> {
    const { status, headers, body } = answer;
    if (status >= 300 && status < 400) {
      body.discard();
      throw redirected();
    }
    if (status >= 400) return this.refusal(answer, sending);
    if (status === 204 || status === 205) {
      body.discard();
      return new Response(null, { status });
    }
    return new Response(await this.bodyOf(answer, sending.exchange), { status, headers: keptHeaders(headers) });
  }

  private async bodyOf(
    answer: EgressResponse,
    exchange: Exchange | undefined,
  ): Promise<ReadableStream<Uint8Array> | string> {
    const { turns, admit } = this.options;
    const isEvents = isEventStream(answer);
    if (exchange) exchange.streams = isEvents;
    return isEvents ? eventsOf(answer.body, { turns, admit, exchange }) : messagesOf(answer.body, turns);
  }

  private async refusal({ status, headers, body }: EgressResponse, sending: Sending): Promise<Response> {
    const text = await textOf(body, this.options.turns);
    const hadSession = 'mcp-session-id' in sending.headers && sending.exchange?.isRequest === true;
    if (hadSession && (status === 404 || (status === 400 && /\bsession\b/i.test(text)))) {
      this.options.onSessionLost();
      throw sessionLost();
    }
    // With tokens a person has signed in, and the server may still forbid single actions.
    if (status === 403 && !this.options.endpoint.tokens) {
      const message = 'The server refuses access with these credentials (HTTP status 403); it needs to be authorized.';
      throw new McpFailure('needs_authorization', message);
    }
    return new Response(text, { status, headers: keptHeaders(headers) });
  }
}

/** `WWW-Authenticate` of an answer that other credentials may change, null without this header; undefined for other answers. */
function challengeOf({ status, headers }: EgressAnswer): string | null | undefined {
  const challenge = headers['www-authenticate'] ?? null;
  if (status === 401) return challenge;
  return status === 403 && challenge !== null && /\binsufficient_scope\b/.test(challenge) ? challenge : undefined;
}

function unauthorized(): McpFailure {
  const message = 'The server does not accept the credentials; it needs to be authorized.';
  return new McpFailure('needs_authorization', message);
}

function isEventStream({ headers }: EgressAnswer): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/** The headers that the SDK reads. Content-Length is wrong after decompression. */
function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const names = ['content-type', 'mcp-session-id', 'www-authenticate'];
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
