import type { ListedTool } from '../domain/tool-list.js';
import type { McpConnection, McpToolCall, McpToolResult } from '../mcp/mcp-connection.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import type { LocalServer } from './local-server.js';

/** A connection to a local server, which is busy while it is used. */
export class LocalConnection implements McpConnection {
  constructor(
    private readonly connection: McpConnection,
    private readonly server: LocalServer,
    /** Why it was ended for what it wrote. */
    private readonly refusal: () => McpFailure | undefined,
  ) {}

  get closed(): boolean {
    return this.server.ending || this.connection.closed;
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
      // That the connection was lost is all that it knows; the server's end says why.
      const isLost = error instanceof McpFailure && error.reason === 'unreachable';
      throw isLost ? (this.refusal() ?? this.server.failure ?? error) : error;
    }
  }
}
