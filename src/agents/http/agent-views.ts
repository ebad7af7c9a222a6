import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { OrganizationGateways } from '../../models/index.js';
import type { Assistant } from '../application/read-agents.js';
import type { Agent } from '../domain/agent.js';
import { inheritsGateway } from '../domain/agent-gateway.js';
import { isGated } from '../domain/withdrawn-settings.js';
import { agentView, type AgentView, assistantView, type AssistantView, type OfOrganization } from './agent-view.js';

/** Agents of one organization as answers show them: with the gateway that they inherit, and with defaults for settings that the plan does not include. */
@Injectable()
export class AgentViews {
  constructor(
    private readonly gateways: OrganizationGateways,
    private readonly organizations: OrganizationDirectory,
  ) {}

  async one(agent: Agent): Promise<AgentView> {
    return agentView(agent, await this.organizationOf([agent]));
  }

  async many(agents: readonly Agent[]): Promise<AgentView[]> {
    const organization = await this.organizationOf(agents);
    return agents.map((agent) => agentView(agent, organization));
  }

  async assistants(agents: readonly Assistant[]): Promise<AssistantView[]> {
    const organization = await this.organizationOf(agents);
    return agents.map((agent) => assistantView(agent, organization));
  }

  private async organizationOf(agents: readonly Assistant[]): Promise<OfOrganization> {
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
