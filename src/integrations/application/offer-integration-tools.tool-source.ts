import { Injectable } from '@nestjs/common';
import { type OfferedTool, type RunContext, type ToolResult, ToolSource } from '../../conversations/index.js';
import { type Integration, targetOf } from '../domain/integration.js';
import { AgentTools, type AgentTool } from './agent-tools.js';
import { CallTool } from './call-tool.js';
import { type AppToolName, HiddenTools } from './hidden-tools.js';
import { RefreshToolLists } from './refresh-tool-lists.js';
import { RefusedSchemas } from './refused-schemas.js';
import type { AgentIntegration } from '../persistence/integration-state.repository.js';

const NOT_AVAILABLE: ToolResult = {
  output: 'This tool is no longer available: its integration was changed or removed.',
  isError: true,
};

@Injectable()
export class OfferIntegrationTools extends ToolSource {
  constructor(
    private readonly agentTools: AgentTools,
    private readonly lists: RefreshToolLists,
    private readonly callTool: CallTool,
    private readonly hiddenTools: HiddenTools,
    private readonly refusedSchemas: RefusedSchemas,
  ) {
    super();
  }

  async offer(run: RunContext): Promise<readonly OfferedTool[]> {
    const { organizationId, agent } = run;
    let known = await this.agentTools.of(organizationId, agent.id);
    if (await this.lists.refresh(known.integrations, run.signal)) {
      known = await this.agentTools.of(organizationId, agent.id);
    }
    const hidden = await this.hiddenTools.of(run);
    const checked = new Map(known.integrations.map((each) => [each.integration.id, each]));
    return known.tools
      .filter((tool) => !isOneOf(hidden, tool))
      .map((tool) => this.offered(tool, checked.get(tool.integration.id), run));
  }

  override async namesOf(organizationId: string, { id }: RunContext['agent']): Promise<readonly string[]> {
    return (await this.agentTools.of(organizationId, id)).tools.map(({ definition }) => definition.name);
  }

  private offered(
    { integration, tool, definition }: AgentTool,
    checked: AgentIntegration | undefined,
    run: RunContext,
  ): OfferedTool {
    const call: OfferedTool['call'] = async (input, signal) => {
      const current = await this.current(integration.id, tool.name, run);
      // A call goes only to the target that it was approved for, or that made it read-only.
      if (!current || targetOf(current) !== targetOf(integration)) return NOT_AVAILABLE;
      return this.callTool.execute(
        { integration: current, tool: tool.name, input, userContext: run.userContext },
        signal,
      );
    };
    const effect = tool.readOnly ? 'read_only' : 'changes_resources';
    const target = `${targetOf(integration)} ${tool.name}`;
    const judged = {
      checked: checked ?? { integration, state: null },
      tool: tool.name,
      provider: run.agent.provider.type,
    };
    return {
      ...{ definition, step: 'tool', effect, searchable: true, target, call },
      schemaRefused: this.refusedSchemas.isRefused(judged),
      schemaJudged: (verdict) => this.refusedSchemas.judged(judged, verdict),
    };
  }

  /** The current integration: it may have been changed, or detached from the agent, during the run. */
  private async current(
    id: string,
    tool: string,
    { organizationId, agent }: RunContext,
  ): Promise<Integration | undefined> {
    const integrations = await this.agentTools.integrationsOf(organizationId, agent.id);
    const current = integrations.find(({ integration }) => integration.id === id)?.integration;
    return current?.excludedTools.includes(tool) === true ? undefined : current;
  }
}

function isOneOf(hidden: readonly AppToolName[], { integration: { settings }, tool: { name } }: AgentTool): boolean {
  return settings.type === 'custom-mcp' && hidden.some(({ app, tool }) => app === settings.app && tool === name);
}
