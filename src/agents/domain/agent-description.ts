import { providerOf } from '../../models/index.js';
import { namedBy } from '../../platform/stored-json/index.js';
import { agentSettings, type AgentSettings, type ShownSettings, shownPlain } from './agent-settings.js';
import type { AgentGateway } from './agent-gateway.js';
import type { AgentType } from './agent-type.js';
import type { ResponseComponents } from './response-components.js';

export type ProviderDescription = Readonly<Record<string, unknown>> & { readonly type: string };

/** Everything of an agent that can change, without secrets, as responses and versions show it. */
export interface AgentDescription extends ShownSettings {
  readonly name: string;
  readonly systemPrompt: string;
  readonly provider: ProviderDescription;
  readonly responseComponents: ResponseComponents;
  readonly aiGateway: AgentGateway | null;
  readonly disableInteractivePrompts: boolean;
}

/** An agent, which may have been read without its prompt. */
interface DescribedAgent {
  readonly type: AgentType;
  readonly managedByApi: boolean;
  readonly settings: AgentSettings;
}

export function describeAgent(
  agent: DescribedAgent & { readonly name: string; readonly systemPrompt: string },
): AgentDescription {
  return { name: agent.name, systemPrompt: agent.systemPrompt, ...describeSettings(agent) };
}

/** As `describeAgent`, for an agent without its prompt. */
export function describeSettings(agent: DescribedAgent): Omit<AgentDescription, 'name' | 'systemPrompt'> {
  const settings = namedBy(agentSettings, agent.settings);
  return {
    provider: describeProvider(agent, settings),
    ...shownPlain(settings),
    responseComponents: settings.responseComponents,
    aiGateway: settings.aiGateway,
    disableInteractivePrompts: settings.disableInteractivePrompts,
  };
}

function describeProvider({ managedByApi, type }: DescribedAgent, settings: AgentSettings): ProviderDescription {
  const { model, useOwnApiKey, options } = settings.provider;
  if (!managedByApi) return { type, model, useOwnApiKey };
  return { type: options.type, model, useOwnApiKey, ...providerOf(options.type).settings.describe(options) };
}
