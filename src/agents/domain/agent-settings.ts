import type { AgentGateway } from './agent-gateway.js';
import type { KnowledgeSearch } from './knowledge-search.js';
import type { ProviderSettings } from './provider-settings.js';
import type { ResponseComponents } from './response-components.js';

export interface ToolSettings {
  /** Approval before tools that change something. */
  readonly requireApprovalForResourceChanges: boolean;
  /** Approval before every tool call; supersedes the other flag. */
  readonly requireApprovalBeforeToolCalls: boolean;
}

/** Everything about an agent that is neither its name nor its prompt. */
export interface AgentSettings {
  readonly provider: ProviderSettings;
  readonly tools: ToolSettings;
  readonly longTermMemory: boolean;
  readonly toolProgress: boolean;
  readonly responseComponents: ResponseComponents;
  readonly knowledgeSearch: KnowledgeSearch;
  /** `knowledgeSearch.scoreThreshold` has been sent; no read shows it. Undefined where that was never noted. */
  readonly scoreThresholdSet?: boolean | undefined;
  /** The agent's own gateway setting; null uses the organization's. */
  readonly aiGateway: AgentGateway | null;
  readonly timeoutMinutes: number;
  /** Set by the operator alone; withdraws every interactive component, whatever the response components say. */
  readonly disableInteractivePrompts: boolean;
}
