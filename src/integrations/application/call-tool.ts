import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { Integration } from '../domain/integration.js';
import { CallFailed } from '../domain/integrations.events.js';
import type { McpToolResult } from '../mcp/mcp-connection.js';
import { McpFailure, type McpFailureReason } from '../mcp/mcp-failure.js';
import { RefreshToolLists } from './refresh-tool-lists.js';
import { ServerConnections } from './server-connections.js';

export interface ToolCallCommand {
  readonly integration: Integration;
  /** The server's own name. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly userContext: UserContext | null;
}

/** How common servers report an unknown tool in the result of a call. */
const NO_SUCH_TOOL = /\b(unknown tool|tool .{1,200} not found|tool .{1,200} disabled|no such tool)\b/is;

const MAY_HAVE_CHANGED: readonly McpFailureReason[] = ['protocol', 'unreachable', 'timeout', 'too_large'];

@Injectable()
export class CallTool {
  constructor(
    private readonly connections: ServerConnections,
    private readonly lists: RefreshToolLists,
    private readonly events: EventBus,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns the tool's result; a failure of the server is a result with `isError` that the model reads
   * @throws the reason of `signal` when it aborts
   */
  async execute(
    { integration, tool: name, input, userContext }: ToolCallCommand,
    signal: AbortSignal,
  ): Promise<McpToolResult> {
    const meta = userContext === null ? {} : { userContext };
    try {
      const call = { name, input, meta };
      const result = await this.connections.use(integration, (connection) => connection.callTool(call, signal), signal);
      if (result.isError && NO_SUCH_TOOL.test(result.output.slice(0, 1_000)))
        this.events.publish(new CallFailed(integration));
      return result;
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error;
      const { reason, detail, message } = error;
      this.logger.warn({ integrationId: integration.id, tool: name, reason, detail }, 'A tool server failed');
      // The stored list may be outdated: the server is down, or reports an unknown tool.
      if (MAY_HAVE_CHANGED.includes(reason)) this.events.publish(new CallFailed(integration));
      // The check stores the new status, because only the server can tell that the sign-in is no longer valid.
      if (reason === 'needs_authorization') void this.lists.check(integration);
      return { output: message, isError: true };
    }
  }
}
