import type { JsonObject } from '../../models/index.js';
import type { ToolResult } from '../../conversations/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import type { McpFailure } from './mcp-failure.js';

export interface McpToolCall {
  readonly name: string;
  readonly input: JsonObject;
  /** Sent as `_meta`. */
  readonly meta: JsonObject;
}

export interface McpToolResult extends ToolResult {
  /** Parts of it were not valid MCP. `output` has notes in their place. */
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
  /** Also ends the server's session or process. Never throws. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly signal: AbortSignal;
  /** The server has notified that its list of tools has changed. */
  readonly onToolsChanged: () => void;
  /** The server does not send these notifications, or stopped. Called at most once for a connection. Secrets are redacted in the failure. */
  readonly onListenFailed?: (failure: McpFailure) => void;
  /** A person asks for this attempt, so it is made despite recent failures. */
  readonly ignoresBackoff?: boolean;
}
