import { Injectable } from '@nestjs/common';
import { type Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Clock, Turns } from '../../platform/clock/index.js';
import { OperatorHttp, SafeHttp } from '../../platform/egress/index.js';
import { CONNECT_MS } from '../limits.js';
import { BoundedTransport } from './bounded-transport.js';
import { ClientConnection } from './client-connection.js';
import { currentExchange } from './exchange.js';
import { connectionLost, mcpFailureOf } from './failure-of.js';
import type { ConnectOptions, McpConnection } from './mcp-connection.js';
import type { HttpEndpoint } from './mcp-endpoint.js';
import type { McpFailure } from './mcp-failure.js';
import { McpFetch } from './mcp-fetch.js';
import { MessageRate } from './message-rate.js';
import {
  MAX_BYTES_PER_SECOND,
  MAX_MESSAGES_PER_SECOND,
  MAX_RESUME_MS,
  MAX_RESUMES,
  MIN_RESUME_MS,
  SDK_TIMEOUT_MS,
} from './mcp-limits.js';
import { createClient, tellsOfChanges, ToolChanges } from './sdk-client.js';
import { withinTime } from './within-time.js';

/** Connects to tool servers over HTTP. */
@Injectable()
export class HttpMcpConnector {
  private readonly turns = new Turns();

  constructor(
    private readonly clock: Clock,
    private readonly safeHttp: SafeHttp,
    private readonly operatorHttp: OperatorHttp,
  ) {}

  /** Takes at most `CONNECT_MS`. @throws McpFailure; the signal's reason */
  async connect(endpoint: HttpEndpoint, options: ConnectOptions): Promise<McpConnection> {
    const { signal } = options;
    signal.throwIfAborted();
    const http = endpoint.chosenBy === 'operator' ? this.operatorHttp : this.safeHttp;
    const opening = new Opening(endpoint, http, this.clock, this.turns, options);
    try {
      const bound = { clock: this.clock, ms: CONNECT_MS, signal };
      return await withinTime(bound, (bounded) => opening.open(bounded));
    } catch (error) {
      opening.abandon();
      signal.throwIfAborted();
      throw opening.failure ?? mcpFailureOf(error, opening.secrets());
    }
  }
}

/** One connection while it is made. */
class Opening {
  private readonly life = new AbortController();
  private readonly client: Client;
  private readonly fetch: McpFetch;
  private readonly inner: StreamableHTTPClientTransport | SSEClientTransport;
  private readonly transport: BoundedTransport;
  private sessionIsLost = false;
  private resumes = 0;
  private readonly changes: ToolChanges;

  constructor(
    private readonly endpoint: HttpEndpoint,
    http: SafeHttp,
    private readonly clock: Clock,
    turns: Turns,
    { onToolsChanged, onListenFailed }: ConnectOptions,
  ) {
    // The older transport is of the older protocol alone, and some of its servers are silent to what they do not know.
    this.client = createClient({ mode: endpoint.transport === 'sse' ? 'legacy' : 'auto' });
    this.changes = new ToolChanges(clock, onToolsChanged, (error) => {
      if (!this.transport.closed) onListenFailed?.(mcpFailureOf(error, this.secrets()));
    });
    const rate = new MessageRate(clock, { messages: MAX_MESSAGES_PER_SECOND, bytes: MAX_BYTES_PER_SECOND });
    this.fetch = new McpFetch({
      http,
      endpoint,
      turns,
      life: this.life.signal,
      wantsNotifications: () => tellsOfChanges(this.client),
      onSessionLost: () => {
        this.sessionIsLost = true;
      },
      isFlooded: (events, bytes) => rate.exceededBy(events, bytes),
      onFlood: (failure) => this.transport.breakOff(failure),
    });
    this.inner = this.innerTransport();
    this.transport = new BoundedTransport(this.inner, clock);
  }

  /** Why the connection was broken off. */
  get failure(): McpFailure | undefined {
    return this.transport.failure;
  }

  secrets(): readonly string[] {
    return this.fetch.secrets();
  }

  async open(signal: AbortSignal): Promise<McpConnection> {
    this.client.onclose = () => this.end();
    this.changes.watch(this.client);
    await this.client.connect(this.transport, { signal, timeout: SDK_TIMEOUT_MS });
    this.changes.listen(this.client);
    return new ClientConnection({
      client: this.client,
      clock: this.clock,
      isClosed: () => this.sessionIsLost || this.transport.closed,
      failure: () => this.failure,
      endSession: () => this.endSession(),
      secrets: () => this.secrets(),
    });
  }

  abandon(): void {
    this.end();
    this.transport.close().catch(() => undefined);
  }

  private innerTransport(): StreamableHTTPClientTransport | SSEClientTransport {
    const url = new URL(this.endpoint.url);
    // Redirects are left to the fetch, which follows none.
    const options = { fetch: this.fetch.fetch, redirectPolicy: 'follow', requestInit: { redirect: 'manual' } } as const;
    if (this.endpoint.transport === 'sse') return new SSEClientTransport(url, options);
    return new StreamableHTTPClientTransport(url, {
      ...options,
      reconnectionScheduler: (resume, delay) => this.resumeLater(resume, delay),
    });
  }

  /** A server may close its streams and say when to come back, also at once and for ever. */
  private resumeLater(resume: () => void, delay: number): () => void {
    this.resumes += 1;
    if (this.resumes > MAX_RESUMES) {
      currentExchange.getStore()?.fail(connectionLost());
      return () => undefined;
    }
    return this.clock.after(Math.min(Math.max(delay, MIN_RESUME_MS), MAX_RESUME_MS), resume);
  }

  private end(): void {
    this.changes.end();
    this.life.abort();
  }

  private async endSession(): Promise<void> {
    if (this.inner instanceof StreamableHTTPClientTransport && !this.sessionIsLost) await this.inner.terminateSession();
  }
}
