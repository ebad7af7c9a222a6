import { Injectable } from '@nestjs/common';
import { type Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Clock, Turns } from '../../platform/clock/index.js';
import { OperatorHttp, SafeHttp } from '../../platform/egress/index.js';
import { CONNECT_MS } from '../limits.js';
import { BoundedTransport } from './bounded-transport.js';
import { ClientConnection, createClient, sendsToolChanges } from './client-connection.js';
import { currentExchange } from './exchange.js';
import { connectionLost, mcpFailureOf } from './failure-of.js';
import type { ConnectOptions, McpConnection } from './mcp-connection.js';
import type { HttpEndpoint } from './mcp-endpoint.js';
import { McpFailure } from './mcp-failure.js';
import { McpFetch } from './mcp-fetch.js';
import { MAX_RESUME_MS, MAX_RESUMES, MIN_RESUME_MS } from './mcp-limits.js';
import { MessageRate } from './message-rate.js';
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
    const opening = new Opening(endpoint, http, this.clock, this.turns);
    try {
      const bound = { clock: this.clock, ms: CONNECT_MS, signal };
      return await withinTime(bound, (bounded) => opening.open({ ...options, signal: bounded }));
    } catch (error) {
      opening.abandon();
      signal.throwIfAborted();
      throw opening.failure ?? mcpFailureOf(error, opening.secrets());
    }
  }
}

/** One connection while it is opened. */
class Opening {
  /** Aborted when the connection is closed. */
  private readonly life = new AbortController();
  private readonly client: Client;
  private readonly fetch: McpFetch;
  private readonly inner: StreamableHTTPClientTransport | SSEClientTransport;
  private readonly transport: BoundedTransport;
  private isSessionLost = false;
  private resumes = 0;

  constructor(
    private readonly endpoint: HttpEndpoint,
    http: SafeHttp,
    private readonly clock: Clock,
    turns: Turns,
  ) {
    // SSE is a transport of the older protocol only, and some of its servers do not answer unknown requests.
    this.client = createClient({ mode: endpoint.transport === 'sse' ? 'legacy' : 'auto' });
    const rate = new MessageRate(clock);
    this.fetch = new McpFetch({
      http,
      endpoint,
      turns,
      life: this.life.signal,
      wantsNotifications: () => sendsToolChanges(this.client),
      onSessionLost: () => {
        this.isSessionLost = true;
      },
      admit: (events, bytes) => {
        if (rate.exceededBy(events, bytes)) throw this.floodFailure();
      },
    });
    this.inner = this.innerTransport();
    this.transport = new BoundedTransport(this.inner, clock);
  }

  /** Why the service ended the connection. */
  get failure(): McpFailure | undefined {
    return this.transport.failure;
  }

  secrets(): readonly string[] {
    return this.fetch.secrets();
  }

  open(options: ConnectOptions): Promise<McpConnection> {
    const { client, transport, clock } = this;
    return ClientConnection.open(
      {
        ...{ client, transport, clock },
        isSessionLost: () => this.isSessionLost,
        onClosed: () => this.life.abort(),
        endSession: () => this.endSession(),
        secrets: () => this.secrets(),
      },
      options,
    );
  }

  abandon(): void {
    this.life.abort();
    this.transport.close().catch(() => undefined);
  }

  private floodFailure(): McpFailure {
    const message = 'The server sent more messages than can be read, and was disconnected.';
    const failure = new McpFailure('protocol', message);
    this.transport.breakOff(failure);
    return failure;
  }

  private innerTransport(): StreamableHTTPClientTransport | SSEClientTransport {
    const url = new URL(this.endpoint.url);
    // The fetch decides about redirects: it follows none.
    const options = { fetch: this.fetch.fetch, redirectPolicy: 'follow', requestInit: { redirect: 'manual' } } as const;
    if (this.endpoint.transport === 'sse') return new SSEClientTransport(url, options);
    return new StreamableHTTPClientTransport(url, {
      ...options,
      reconnectionScheduler: (resume, delay) => this.resumeLater(resume, delay),
    });
  }

  /** A server may close its streams and ask the client to reconnect at once, without end. */
  private resumeLater(resume: () => void, delay: number): () => void {
    this.resumes += 1;
    if (this.resumes > MAX_RESUMES) {
      currentExchange.getStore()?.fail(connectionLost());
      return () => undefined;
    }
    return this.clock.after(Math.min(Math.max(delay, MIN_RESUME_MS), MAX_RESUME_MS), resume);
  }

  private async endSession(): Promise<void> {
    if (this.inner instanceof StreamableHTTPClientTransport && !this.isSessionLost) await this.inner.terminateSession();
  }
}
