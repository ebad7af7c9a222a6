import type { ProviderType } from '../../models/index.js';

/** What an agent is. `classic` agents are made by the operator; the API shows them and does not manage them. */
export const AGENT_TYPES = ['anthropic', 'openai-responses', 'gemini', 'claude-agent-sdk', 'classic'] as const;

export type AgentType = (typeof AGENT_TYPES)[number];

/** The types that a caller may name; every type that runs on a provider is among them. */
export const REQUESTABLE_TYPES = ['anthropic', 'openai-responses', 'gemini', 'claude-agent-sdk'] as const satisfies
  readonly (ProviderType | 'claude-agent-sdk')[];

export type RequestableType = (typeof REQUESTABLE_TYPES)[number];
