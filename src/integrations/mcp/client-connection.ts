import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import { CALL_MS } from '../limits.js';
import { Confidential } from './confidential.js';
import { mcpFailureOf, sessionLost } from './failure-of.js';
import { listTools } from './list-tools.js';
import type { McpConnection, McpToolCall, McpToolResult } from './mcp-connection.js';
import type { McpFailure } from './mcp-failure.js';
import { CLOSE_MS, SDK_TIMEOUT_MS } from './mcp-limits.js';
import { wasRepaired } from './repaired-answer.js';
import { toToolResult } from './tool-result.js';
import { withinTime } from './within-time.js';

export interface ClientConnectionParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly isClosed: () => boolean;
  /** Why it was broken off. */
  readonly failure?: () => McpFailure | undefined;
  /** Tells the server that the session is over. */
  readonly endSession: () => Promise<void>;
  /** Left out of whatever the server repeats: its errors, tools and results. */
  readonly secrets: () => readonly string[];
}

/** A connection over an SDK client that is connected already, whatever its transport. */
export class ClientConnection implements McpConnection {
  private closing: Promise<void> | undefined;

  constructor(private readonly parts: ClientConnectionParts) {}

  get closed(): boolean {
    return this.closing !== undefined || this.parts.isClosed();
  }

  listTools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    return this.request(signal, (bounded) =>
      listTools(this.parts.client, bounded, new Confidential(this.parts.secrets())),
    );
  }

  callTool({ name, input, meta }: McpToolCall, signal: AbortSignal): Promise<McpToolResult> {
    const params = { name, arguments: { ...input }, _meta: { ...meta } };
    return this.request(signal, async (bounded) => {
      const result = await this.parts.client.callTool(params, { signal: bounded, timeout: SDK_TIMEOUT_MS });
      return new Confidential(this.parts.secrets()).leftOutOfResult({
        ...toToolResult(result),
        ...(wasRepaired(result) && { isRepaired: true as const }),
      });
    });
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async request<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.closed) throw sessionLost();
    const { clock } = this.parts;
    try {
      return await withinTime({ clock, ms: CALL_MS, signal }, work);
    } catch (error) {
      signal.throwIfAborted();
      throw this.parts.failure?.() ?? mcpFailureOf(error, this.parts.secrets());
    }
  }

  private async end(): Promise<void> {
    const { client, clock, endSession } = this.parts;
    const { signal } = new AbortController();
    // Politeness alone: the server may be gone.
    await withinTime({ clock, ms: CLOSE_MS, signal }, endSession).catch(() => undefined);
    await client.close().catch(() => undefined);
  }
}
