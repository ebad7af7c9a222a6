import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { type OrganizationGateway, OrganizationGateways } from '../../models/index.js';
import type { Assistant } from '../application/read-agents.js';
import type { Agent } from '../domain/agent.js';
import { describeSettings } from '../domain/agent-description.js';
import { inheritsGateway } from '../domain/agent-gateway.js';
import { type Features, inEffect, isGated } from '../domain/withdrawn-settings.js';
import type { AgentGatewayResponse, AgentResponse, AssistantResponse } from './agent-response.dto.js';

interface OrganizationContext {
  /** Null when the organization has no gateway in effect. */
  readonly gateway: OrganizationGateway | null;
  readonly features: Features;
}

/**
 * Agents of one organization as responses show them: with the gateway that they inherit, and with defaults for settings that
 * the plan does not include.
 */
@Injectable()
export class AgentViews {
  constructor(
    private readonly gateways: OrganizationGateways,
    private readonly organizations: OrganizationDirectory,
  ) {}

  async one(agent: Agent): Promise<AgentResponse> {
    return agentView(agent, await this.contextOf([agent]));
  }

  async many(agents: readonly Agent[]): Promise<AgentResponse[]> {
    const context = await this.contextOf(agents);
    return agents.map((agent) => agentView(agent, context));
  }

  async assistants(agents: readonly Assistant[]): Promise<AssistantResponse[]> {
    const context = await this.contextOf(agents);
    return agents.map((agent) => assistantView(agent, context));
  }

  private async contextOf(agents: readonly Assistant[]): Promise<OrganizationContext> {
    const organizationId = agents[0]?.organizationId;
    if (organizationId === undefined) return { gateway: null, features: new Set() };
    const inherits = agents.some(({ settings }) => inheritsGateway(settings));
    const gateway = inherits ? await this.gateways.findEffective(organizationId) : null;
    // Most agents have no setting that depends on the plan, so reading them needs no look-up of the organization.
    const organization = agents.some(({ settings }) => isGated(settings))
      ? await this.organizations.find(organizationId)
      : null;
    return { gateway, features: organization?.features ?? new Set() };
  }
}

function agentView(agent: Agent, context: OrganizationContext): AgentResponse {
  const { id, name, ...rest } = assistantView(agent, context);
  return { id, name, systemPrompt: agent.systemPrompt, ...rest };
}

function assistantView(agent: Assistant, { gateway, features }: OrganizationContext): AssistantResponse {
  const { id, name, type, managedByApi } = agent;
  const described = describeSettings({ type, managedByApi, settings: inEffect(agent.settings, features) });
  const { aiGateway, disableInteractivePrompts: _, ...settings } = described;
  return {
    id,
    name,
    ...settings,
    aiGateway: aiGateway ? { source: 'agent', ...aiGateway } : inheritedGateway(agent, gateway),
    version: agent.version,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}

function inheritedGateway(agent: Assistant, gateway: OrganizationGateway | null): AgentGatewayResponse | null {
  if (!gateway || !inheritsGateway(agent.settings)) return null;
  const { edgeAccountId, gatewayName } = gateway;
  return { source: 'organization', enabled: true, edgeAccountId, gatewayName };
}
