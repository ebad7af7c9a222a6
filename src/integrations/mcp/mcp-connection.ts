import type { JsonObject } from '../../models/index.js';
import type { ToolResult } from '../../conversations/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import type { McpEndpoint } from './mcp-endpoint.js';
import type { McpFailure } from './mcp-failure.js';

export interface McpToolCall {
  readonly name: string;
  readonly input: JsonObject;
  /** Goes along as `_meta`. */
  readonly meta: JsonObject;
}

export interface McpToolResult extends ToolResult {
  /** Parts of it were not valid MCP: `output` has notes in place of what they may have said, or nothing. */
  readonly isRepaired?: true;
}

/** A connection to one server, usable by any number of calls at once. */
export interface McpConnection {
  /** Every page. @throws McpFailure; the signal's reason */
  listTools(signal: AbortSignal): Promise<readonly ListedTool[]>;
  /**
   * An error that the tool reports is a result (`isError`).
   * @throws McpFailure; the signal's reason
   */
  callTool(call: McpToolCall, signal: AbortSignal): Promise<McpToolResult>;
  /** True once it cannot be used any more. */
  readonly closed: boolean;
  /** Ends it, and with it the server's session or process. Never throws. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly signal: AbortSignal;
  /** The server says that its tools are others now. */
  readonly onToolsChanged: () => void;
  /** The server has refused to say so, or does not any more: at most once for a connection. The failure has nothing that the server was told in confidence. */
  readonly onListenFailed?: (failure: McpFailure) => void;
  /** Somebody asks for just this attempt: it is made whatever became of earlier ones. */
  readonly anew?: boolean;
}

export abstract class McpConnector {
  /** Takes at most `CONNECT_MS`. @throws McpFailure; the signal's reason */
  abstract connect(endpoint: McpEndpoint, options: ConnectOptions): Promise<McpConnection>;
}
