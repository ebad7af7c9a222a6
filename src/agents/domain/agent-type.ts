import { REQUESTABLE_TYPES, type RequestableType } from '../../models/index.js';

/** What an agent is. `classic` agents are made by the operator; the API shows them and does not manage them. */
export type AgentType = RequestableType | 'classic';

export const AGENT_TYPES: readonly AgentType[] = [...REQUESTABLE_TYPES, 'classic'];
