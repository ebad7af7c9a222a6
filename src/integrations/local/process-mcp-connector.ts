import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import type { ChildProcess } from '../../platform/processes/index.js';
import { CONNECT_MS } from '../limits.js';
import { mcpFailureOf } from '../mcp/failure-of.js';
import type { ConnectOptions, McpConnection } from '../mcp/mcp-connection.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { withinTime } from '../mcp/within-time.js';
import { LocalConnection } from './local-connection.js';
import type { LocalServer } from './local-server.js';
import { LocalServers } from './local-servers.js';
import { type ProtocolChoice, ProcessOpening, secretsOf } from './process-opening.js';
import { failureOfEnd, isNoProgram } from './process-transport.js';

/** Starts local tool servers, and connects to them over their input and output. */
@Injectable()
export class ProcessMcpConnector {
  constructor(
    private readonly servers: LocalServers,
    private readonly clock: Clock,
  ) {}

  /** Takes at most `CONNECT_MS`. @throws McpFailure; the signal's reason */
  async connect(endpoint: ProcessEndpoint, options: ConnectOptions): Promise<McpConnection> {
    const { signal, anew = false } = options;
    const waiting = new AbortController();
    const server = this.servers.admit(endpoint, { anew, signal: waiting.signal });
    const bound = { clock: this.clock, ms: CONNECT_MS, signal };
    try {
      return await withinTime(bound, async (bounded) => this.open(await server, { ...options, signal: bounded }));
    } catch (error) {
      const failure = mcpFailureOf(error, secretsOf(endpoint));
      // One who does not want to wait any longer says nothing about the server.
      const leave = (admitted: LocalServer): unknown => (signal.aborted ? admitted.end() : admitted.fail(failure));
      server.then(leave, () => undefined);
      waiting.abort(failure);
      signal.throwIfAborted();
      throw failure;
    }
  }

  private async open(server: LocalServer, options: ConnectOptions): Promise<McpConnection> {
    const child = await server.spawn();
    try {
      return await this.handshake(server, child, 'auto', options);
    } catch (error) {
      if (!(await endedUnasked(child, error))) throw error;
    }
    // Some servers of the older protocol end when they are asked which one they speak.
    return this.handshake(server, await server.spawn(), 'legacy', options);
  }

  private async handshake(
    server: LocalServer,
    child: ChildProcess,
    choice: ProtocolChoice,
    options: ConnectOptions,
  ): Promise<McpConnection> {
    const opening = new ProcessOpening(child, this.clock, secretsOf(server.endpoint));
    try {
      await opening.connect(choice, options);
    } catch (error) {
      options.signal.throwIfAborted();
      throw opening.refusal ?? (child.hasEnded ? failureOfEnd(await child.ended) : error);
    }
    server.ready();
    return new LocalConnection(opening.connection(server), server, () => opening.refusal);
  }
}

/** It ended by itself, though its program can be run. */
async function endedUnasked(child: ChildProcess, error: unknown): Promise<boolean> {
  if (!child.hasEnded || !(error instanceof McpFailure) || error.reason !== 'process') return false;
  const end = await child.ended;
  return end.excess === null && !isNoProgram(end);
}
