import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import type { SqlExecutor } from '../../platform/database/index.js';
import { AppToolMissing } from '../domain/integrations.errors.js';
import { NOTHING_RETURNED } from '../mcp/tool-result.js';
import type { IntegrationOfAgent } from '../persistence/integration-state.repository.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { AgentTools } from './agent-tools.js';
import { CallTool } from './call-tool.js';
import type { AppToolName } from './hidden-tools.js';
import { KeepToolLists } from './keep-tool-lists.js';

/** What a tool answered, as text. */
export interface AppToolAnswer {
  /** Empty where the tool returned nothing. Of an error what the model would read of it. */
  readonly text: string;
  readonly isError: boolean;
  /** Parts of the answer were not valid MCP: what they said is lost. */
  readonly isRepaired: boolean;
}

/** A tool that is called for an agent by something else than its model. */
export interface AppTool {
  /** A JSON Schema of type `object`. */
  readonly inputSchema: JsonObject;
  /** A server that does not do its part is an answer that is an error. @throws the reason of `signal` when it aborts */
  call(input: JsonObject, userContext: UserContext | null, signal: AbortSignal): Promise<AppToolAnswer>;
}

/**
 * The tools of an agent's custom-mcp integrations by the integrations' `app`, for callers other than its model. What the
 * model is not offered (`excludedTools`) can be called all the same: a guard of the agent is hidden in that way.
 */
@Injectable()
export class AppTools {
  constructor(
    private readonly agentTools: AgentTools,
    private readonly lists: KeepToolLists,
    private readonly callTool: CallTool,
    private readonly integrations: IntegrationRepository,
  ) {}

  /** @param source the caller's transaction, where it has one */
  appsOf(source: SqlExecutor, organizationId: string, agentId: string): Promise<ReadonlySet<string>> {
    return this.integrations.customApps(source, organizationId, agentId);
  }

  /**
   * Waits where nothing is known yet of the integration's server.
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
        const {
          output,
          isError,
          isRepaired = false,
        } = await this.callTool.execute({ integration, tool, input, userContext }, until);
        return { text: output === NOTHING_RETURNED ? '' : output, isError, isRepaired };
      },
    };
  }

  private async integrationOf(organizationId: string, agentId: string, app: string): Promise<IntegrationOfAgent> {
    const all = await this.agentTools.integrationsOf(organizationId, agentId);
    const found = all.find(({ integration: { settings } }) => settings.type === 'custom-mcp' && settings.app === app);
    if (!found) throw new AppToolMissing(`The agent has no custom-mcp integration '${app}'.`);
    return found;
  }
}

/** Null for a connected integration, whose `error` is about a schema that a model provider refuses and not about the server. */
function serverErrorOf({ state }: IntegrationOfAgent): string | null {
  return state === null || state.status === 'connected' ? null : state.error;
}
