import type { OrganizationGateway } from '../../models/index.js';
import type { Assistant } from '../application/read-agents.js';
import type { Agent } from '../domain/agent.js';
import { type AgentDescription, describeSettings } from '../domain/agent-description.js';
import { type AgentGateway, inheritsGateway } from '../domain/agent-gateway.js';
import { type Features, inEffect } from '../domain/withdrawn-settings.js';

type Settings = Omit<AgentDescription, 'name' | 'systemPrompt' | 'aiGateway' | 'disableInteractivePrompts'>;

/** An agent as lists of every type answer it. */
export interface AssistantView extends Settings {
  readonly id: string;
  readonly name: string;
  readonly aiGateway: ({ readonly source: 'agent' | 'organization' } & AgentGateway) | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An agent as its own routes answer it. */
export interface AgentView extends AssistantView {
  readonly systemPrompt: string;
}

/** The facts of an organization that the answers about its agents need. */
export interface OfOrganization {
  /** In effect; null where there is none. */
  readonly gateway: OrganizationGateway | null;
  readonly features: Features;
}

export function agentView(agent: Agent, organization: OfOrganization): AgentView {
  const { id, name, ...rest } = assistantView(agent, organization);
  return { id, name, systemPrompt: agent.systemPrompt, ...rest };
}

export function assistantView(agent: Assistant, { gateway, features }: OfOrganization): AssistantView {
  const { id, name, type, managedByApi } = agent;
  const described = describeSettings({ type, managedByApi, settings: inEffect(agent.settings, features) });
  const { aiGateway, disableInteractivePrompts: _, ...settings } = described;
  return {
    id,
    name,
    ...settings,
    aiGateway: aiGateway ? { source: 'agent', ...aiGateway } : inherited(agent, gateway),
    version: agent.version,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}

function inherited(agent: Assistant, gateway: OrganizationGateway | null): AssistantView['aiGateway'] {
  if (!gateway || !inheritsGateway(agent.settings)) return null;
  const { edgeAccountId, gatewayName } = gateway;
  return { source: 'organization', enabled: true, edgeAccountId, gatewayName };
}
