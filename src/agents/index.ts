import type { Context } from '../platform/context/index.js';
import { AgentsModule } from './agents.module.js';
import { agentsSchema } from './persistence/agents.schema.js';

export const agentsContext = {
  name: 'agents',
  modules: [AgentsModule],
  schema: agentsSchema,
} satisfies Context;

export { AgentsModule, agentsSchema };
export { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from './application/agent-data-holders.js';
export {
  AgentDirectory,
  type CurrentAgent,
  type RunnableAgent,
  type VisibleAgent,
} from './application/agent-directory.js';
export { AgentRouting } from './application/agent-routing.js';
export { KnowledgeTuning } from './application/knowledge-tuning.js';
export { type VersionedPart, VersionedParts } from './application/versioned-parts.js';
export { AgentWrites, type Changed, type WriteTarget, type Written } from './application/versioned-write.js';
export { AgentNotFound, VersionNotRestorable } from './domain/agents.errors.js';
export { AgentChanged, AgentDeleted } from './domain/agents.events.js';
export type { AgentType } from './domain/agent-type.js';
export type { ChangedBy } from './domain/agent-version.js';
export { type FieldChange, secretChange } from './domain/agent-version.js';
export type { RunLimits, ToolSettings } from './domain/agent-settings.js';
export { DEFAULT_KNOWLEDGE_SEARCH, type KnowledgeSearch, RUN_STEPS } from './domain/agent-settings.js';
export {
  type ComponentMap,
  type ComponentSwitch,
  emittedBy,
  type Frequency,
  type ResponseComponents,
} from './domain/response-components.js';
export { lockAgent } from './persistence/lock-agent.sql.js';
export { AgentWriteTarget, ApiVersionHeader, etagOf } from './http/write-target.js';
