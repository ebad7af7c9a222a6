import { Injectable } from '@nestjs/common';
import { type OrganizationGateway, OrganizationGateways } from '../../models/index.js';
import type { Assistant } from '../application/read-agents.js';
import type { Agent } from '../domain/agent.js';
import { inheritsGateway } from '../domain/agent-gateway.js';
import { agentView, type AgentView, assistantView, type AssistantView } from './agent-view.js';

/** Agents of one organization as answers show them, with the gateway they inherit. */
@Injectable()
export class AgentViews {
  constructor(private readonly gateways: OrganizationGateways) {}

  async one(agent: Agent): Promise<AgentView> {
    return agentView(agent, await this.gatewayFor([agent]));
  }

  async many(agents: readonly Agent[]): Promise<AgentView[]> {
    const gateway = await this.gatewayFor(agents);
    return agents.map((agent) => agentView(agent, gateway));
  }

  async assistants(agents: readonly Assistant[]): Promise<AssistantView[]> {
    const gateway = await this.gatewayFor(agents);
    return agents.map((agent) => assistantView(agent, gateway));
  }

  private async gatewayFor(agents: readonly Assistant[]): Promise<OrganizationGateway | null> {
    const heir = agents.find(({ settings }) => inheritsGateway(settings));
    return heir ? this.gateways.effective(heir.organizationId) : null;
  }
}
