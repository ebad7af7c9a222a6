import { PROVIDER_TYPES, type ProviderType } from '../../models/index.js';

/** The operator creates `classic` agents; the API shows them and does not manage them. */
export type AgentType = ProviderType | 'classic';

export const AGENT_TYPES: readonly AgentType[] = [...PROVIDER_TYPES, 'classic'];
