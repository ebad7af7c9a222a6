import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import type { SqlExecutor } from '../../platform/database/index.js';
import { AppToolMissing } from '../domain/integrations.errors.js';
import { NOTHING_RETURNED } from '../mcp/tool-result.js';
import type { AgentIntegration } from '../persistence/integration-state.repository.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { AgentTools } from './agent-tools.js';
import { CallTool } from './call-tool.js';
import type { AppToolName } from './hidden-tools.js';
import { RefreshToolLists } from './refresh-tool-lists.js';

/** The result of a tool, as text. */
export interface AppToolAnswer {
  /** Empty if the tool returned nothing. For an error, the text that a model would read. */
  readonly text: string;
  readonly isError: boolean;
  /** Parts of the answer were not valid MCP and are missing. */
  readonly isRepaired: boolean;
}

/** A tool that the service itself calls for an agent, such as a hook. */
export interface AppTool {
  /** A JSON Schema of type `object`. */
  readonly inputSchema: JsonObject;
  /** A failure of the server is an answer with `isError`. @throws the reason of `signal` when it aborts */
  call(input: JsonObject, userContext: UserContext | null, signal: AbortSignal): Promise<AppToolAnswer>;
}

/**
 * The tools of an agent's custom-mcp integrations, by the integration's `app`, for callers other than its model. They include
 * `excludedTools`, because customers exclude a guard's tool to hide it from the model.
 */
@Injectable()
export class AppTools {
  constructor(
    private readonly agentTools: AgentTools,
    private readonly lists: RefreshToolLists,
    private readonly callTool: CallTool,
    private readonly integrations: IntegrationRepository,
  ) {}

  /** @param source the caller's transaction or the database */
  appsOf(source: SqlExecutor, organizationId: string, agentId: string): Promise<ReadonlySet<string>> {
    return this.integrations.customApps(source, organizationId, agentId);
  }

  /**
   * Waits for the integration's server if it was never checked.
   * @throws AppToolMissing; the reason of `signal` when it aborts
   */
  async find(
    organizationId: string,
    agentId: string,
    { app, tool }: AppToolName,
    signal: AbortSignal,
  ): Promise<AppTool> {
    let checked = await this.integrationOf(organizationId, agentId, app);
    if (await this.lists.refresh([checked], signal)) checked = await this.integrationOf(organizationId, agentId, app);
    const list = await this.agentTools.listOf(checked);
    const listed = list?.tools.find(({ name }) => name === tool);
    if (!listed)
      throw new AppToolMissing(
        serverErrorOf(checked) ?? `The server of the tool integration '${app}' lists no tool '${tool}'.`,
      );
    const { integration } = checked;
    return {
      inputSchema: listed.inputSchema,
      call: async (input, userContext, until) => {
        const result = await this.callTool.execute({ integration, tool, input, userContext }, until);
        const { output, isError } = result;
        return { text: output === NOTHING_RETURNED ? '' : output, isError, isRepaired: result.isRepaired === true };
      },
    };
  }

  private async integrationOf(organizationId: string, agentId: string, app: string): Promise<AgentIntegration> {
    const all = await this.agentTools.integrationsOf(organizationId, agentId);
    const found = all.find(({ integration: { settings } }) => settings.type === 'custom-mcp' && settings.app === app);
    if (!found) throw new AppToolMissing(`The agent has no custom-mcp integration '${app}'.`);
    return found;
  }
}

/** Null for a connected integration: its `error` is about a schema that a model provider refused, not about the server. */
function serverErrorOf({ state }: AgentIntegration): string | null {
  return state === null || state.status === 'connected' ? null : state.error;
}
