import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import type { ChildProcess } from '../../platform/processes/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import { CONNECT_MS } from '../limits.js';
import { BoundedTransport } from '../mcp/bounded-transport.js';
import { ClientConnection, createClient } from '../mcp/client-connection.js';
import { mcpFailureOf } from '../mcp/failure-of.js';
import type { ConnectOptions, McpConnection, McpToolCall, McpToolResult } from '../mcp/mcp-connection.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { withinTime } from '../mcp/within-time.js';
import { PROBE_MS } from './limits.js';
import type { LocalServer } from './local-server.js';
import { LocalServers } from './local-servers.js';
import { failureOfEnd, isProgramMissing, ProcessTransport } from './process-transport.js';

/** Starts local tool servers, and connects to them over their standard input and output. */
@Injectable()
export class ProcessMcpConnector {
  constructor(
    private readonly servers: LocalServers,
    private readonly clock: Clock,
  ) {}

  /** Takes at most `CONNECT_MS`. @throws McpFailure; the signal's reason */
  async connect(endpoint: ProcessEndpoint, options: ConnectOptions): Promise<McpConnection> {
    const { signal, ignoresBackoff = false } = options;
    const admission = new AbortController();
    const server = this.servers.admit(endpoint, { ignoresBackoff, signal: admission.signal });
    const bound = { clock: this.clock, ms: CONNECT_MS, signal };
    try {
      return await withinTime(bound, async (bounded) => this.open(await server, { ...options, signal: bounded }));
    } catch (error) {
      const failure = mcpFailureOf(error, secretsOf(endpoint));
      // An abort of the caller is no failure of the server.
      const leave = (admitted: LocalServer): unknown => (signal.aborted ? admitted.end() : admitted.fail(failure));
      server.then(leave, () => undefined);
      admission.abort(failure);
      signal.throwIfAborted();
      throw failure;
    }
  }

  private async open(server: LocalServer, options: ConnectOptions): Promise<McpConnection> {
    const child = await server.spawn();
    try {
      return await this.handshake(server, child, 'auto', options);
    } catch (error) {
      if (!(await hasExited(child, error))) throw error;
    }
    // Some servers of the older protocol exit at the probe for the protocol version.
    return this.handshake(server, await server.spawn(), 'legacy', options);
  }

  private async handshake(
    server: LocalServer,
    child: ChildProcess,
    mode: 'auto' | 'legacy',
    options: ConnectOptions,
  ): Promise<McpConnection> {
    const { clock } = this;
    const inner = new ProcessTransport(child, clock);
    const parts = {
      client: createClient({ mode, probe: { timeoutMs: PROBE_MS } }),
      transport: new ProcessBoundedTransport(inner, clock, child.pid),
      clock,
      endSession: () => server.end(),
      secrets: () => secretsOf(server.endpoint),
    };
    try {
      const connection = await ClientConnection.open(parts, options);
      server.ready();
      return new LocalConnection(connection, server, inner);
    } catch (error) {
      options.signal.throwIfAborted();
      throw inner.failure ?? (child.hasEnded ? failureOfEnd(await child.ended) : error);
    }
  }
}

/** From these two fields the SDK learns that no answer to its probe may mean an older server. */
class ProcessBoundedTransport extends BoundedTransport {
  readonly stderr = null;

  constructor(
    transport: ProcessTransport,
    clock: Clock,
    readonly pid: number,
  ) {
    super(transport, clock);
  }
}

/** A connection to a local server, which counts as busy during calls. */
class LocalConnection implements McpConnection {
  constructor(
    private readonly connection: McpConnection,
    private readonly server: LocalServer,
    private readonly transport: ProcessTransport,
  ) {}

  get closed(): boolean {
    return this.server.isEnding || this.connection.closed;
  }

  listTools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    return this.use(() => this.connection.listTools(signal));
  }

  callTool(call: McpToolCall, signal: AbortSignal): Promise<McpToolResult> {
    return this.use(() => this.connection.callTool(call, signal));
  }

  async close(): Promise<void> {
    await Promise.all([this.connection.close(), this.server.end()]);
  }

  private async use<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.server.use(work);
    } catch (error) {
      // The connection fails as lost; the end of the server is the reason.
      const isLost = error instanceof McpFailure && error.reason === 'unreachable';
      throw isLost ? (this.transport.failure ?? this.server.failure ?? error) : error;
    }
  }
}

function secretsOf({ env, secrets = Object.values(env) }: ProcessEndpoint): readonly string[] {
  return secrets;
}

/** Whether the program ran and exited by itself. */
async function hasExited(child: ChildProcess, error: unknown): Promise<boolean> {
  if (!child.hasEnded || !(error instanceof McpFailure) || error.reason !== 'process') return false;
  const end = await child.ended;
  return end.excess === null && !isProgramMissing(end);
}
