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
import { ServerTokens } from './server-tokens.js';

export interface McpFetchOptions {
  readonly http: SafeHttp;
  readonly endpoint: HttpEndpoint;
  /** Of the connection. */
  readonly life: AbortSignal;
  /** Whether a stream for what the server tells by itself is worth a connection that stays open. */
  readonly wantsNotifications: () => boolean;
  readonly onSessionLost: () => void;
  readonly turns: Turns;
  /** Whether this is more than may come over all streams of the connection. */
  readonly isFlooded: (events: number, bytes: number) => boolean;
  /** Ends the connection, and all that waits for it. */
  readonly onFlood: (failure: McpFailure) => void;
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

/** What the SDK's transports use as `fetch`: the safe client, with the headers and tokens of one server, for its origin alone. */
export class McpFetch {
  readonly fetch: FetchLike = (url, init) => this.request(url, init);
  private readonly origin: string;
  private readonly tokens: ServerTokens | undefined;

  constructor(private readonly options: McpFetchOptions) {
    const { endpoint, life } = options;
    this.origin = new URL(endpoint.url).origin;
    this.tokens = endpoint.tokens && new ServerTokens(endpoint.tokens, life);
  }

  /** What the server was told and others must not be. */
  secrets(): readonly string[] {
    const { headers, secrets = Object.values(headers) } = this.options.endpoint;
    return [...secrets, ...(this.tokens?.sent() ?? [])];
  }

  private async request(address: string | URL, init: RequestInit = {}): Promise<Response> {
    const sending = this.sendingOf(new URL(address), init);
    // The answer of a server that has no such stream; the SDK goes on without.
    if (this.isUnwantedStream(sending)) return new Response(null, { status: 405 });
    try {
      return await this.responseOf(await this.authorized(sending), sending);
    } catch (error) {
      const failure = failureOfRequest(error);
      // The event source of the SSE transport would keep its message alone. A GET of the other is an attempt that may be repeated.
      const isLast = sending.method === 'POST' || this.options.endpoint.transport === 'sse';
      if (isLast && failure instanceof McpFailure) sending.exchange?.fail(failure);
      throw failure;
    }
  }

  private sendingOf(url: URL, init: RequestInit): Sending {
    if (url.origin !== this.origin) throw new McpFailure('protocol', 'The server names an endpoint of another server.');
    const method = init.method ?? 'GET';
    const exchange = this.exchangeOf(method);
    const signals = [init.signal, exchange?.ended.signal].flatMap((signal) => signal ?? []);
    return {
      url,
      method,
      // What the protocol says in a header is not the customer's to say.
      headers: { ...lowerCase(this.options.endpoint.headers), ...Object.fromEntries(new Headers(init.headers)) },
      body: typeof init.body === 'string' ? init.body : undefined,
      signal: AbortSignal.any([this.options.life, ...signals]),
      exchange,
    };
  }

  /** The stream of notifications is opened while one is sent, and outlives it. */
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
    const token = await this.tokens?.current(sending.signal);
    const answer = await this.send(sending, token);
    const challenge = challengeOf(answer);
    if (challenge === undefined) return answer;
    answer.body.discard();
    if (!this.tokens || token === undefined) throw unauthorized();
    const successor = await this.tokens.replace(token, challenge, sending.signal);
    const repeated = await this.send(sending, successor);
    const further = challengeOf(repeated);
    if (further === undefined) return repeated;
    repeated.body.discard();
    // Whoever signs in next has to be asked for what is missing, which only the source can remember.
    if (repeated.status === 403) await this.tokens.replace(successor, further, sending.signal);
    throw unauthorized();
  }

  private send(
    { url, method, headers, body, signal, exchange }: Sending,
    token: string | undefined,
  ): Promise<EgressResponse> {
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

  /** A request's answer may be a stream that is open for as long as the connection; who waits for a call has the clock. */
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
    return new Response(await this.bodyOf(answer, sending.exchange), { status, headers: kept(headers) });
  }

  private async bodyOf(
    answer: EgressResponse,
    exchange: Exchange | undefined,
  ): Promise<ReadableStream<Uint8Array> | string> {
    const { turns } = this.options;
    const isEvents = isEventStream(answer);
    if (exchange) exchange.streams = isEvents;
    const admit = (events: number, bytes: number): void => this.admit(events, bytes);
    return isEvents ? eventsOf(answer.body, { turns, admit, exchange }) : messagesOf(answer.body, turns);
  }

  private admit(events: number, bytes: number): void {
    const { isFlooded, onFlood } = this.options;
    if (!isFlooded(events, bytes)) return;
    const failure = flooded();
    onFlood(failure);
    throw failure;
  }

  private async refusal({ status, headers, body }: EgressResponse, sending: Sending): Promise<Response> {
    const text = await textOf(body, this.options.turns);
    const hadSession = 'mcp-session-id' in sending.headers && sending.exchange?.isRequest === true;
    if (hadSession && (status === 404 || (status === 400 && /\bsession\b/i.test(text)))) {
      this.options.onSessionLost();
      throw sessionLost();
    }
    // Where people sign in, they have: what they may do there is between them and the server.
    if (status === 403 && !this.tokens) throw forbidden();
    return new Response(text, { status, headers: kept(headers) });
  }
}

/** What `WWW-Authenticate` says where other credentials may help, null where it says nothing; undefined for every other answer. */
function challengeOf({ status, headers }: EgressAnswer): string | null | undefined {
  const challenge = headers['www-authenticate'] ?? null;
  if (status === 401) return challenge;
  return status === 403 && challenge !== null && /\binsufficient_scope\b/.test(challenge) ? challenge : undefined;
}

function unauthorized(): McpFailure {
  return new McpFailure(
    'needs_authorization',
    'The server does not accept the credentials; it needs to be authorized.',
  );
}

function forbidden(): McpFailure {
  return new McpFailure(
    'needs_authorization',
    'The server refuses access with these credentials (HTTP status 403); it needs to be authorized.',
  );
}

function flooded(): McpFailure {
  return new McpFailure('protocol', 'The server sent more messages than can be read, and was disconnected.');
}

function isEventStream({ headers }: EgressAnswer): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/** Those that the SDK reads; the body has been decompressed, and its length is another one. */
function kept(headers: Readonly<Record<string, string>>): Record<string, string> {
  const names = ['content-type', 'mcp-session-id', 'www-authenticate'];
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
