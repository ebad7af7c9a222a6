import type { OrganizationGateway } from '../../models/index.js';
import type { Assistant } from '../application/read-agents.js';
import type { Agent } from '../domain/agent.js';
import { type AgentDescription, describeSettings } from '../domain/agent-description.js';
import { type AgentGateway, inheritsGateway } from '../domain/agent-gateway.js';

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

/** @param gateway the organization's, in effect; null where there is none */
export function agentView(agent: Agent, gateway: OrganizationGateway | null): AgentView {
  const { id, name, ...rest } = assistantView(agent, gateway);
  return { id, name, systemPrompt: agent.systemPrompt, ...rest };
}

export function assistantView(agent: Assistant, gateway: OrganizationGateway | null): AssistantView {
  const { aiGateway, disableInteractivePrompts: _, ...settings } = describeSettings(agent);
  return {
    id: agent.id,
    name: agent.name,
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
