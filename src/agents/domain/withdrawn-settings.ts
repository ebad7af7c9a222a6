import { isDeepStrictEqual } from 'node:util';
import type { Feature } from '../../access/index.js';
import type { AgentSettings } from './agent-settings.js';
import { DEFAULT_KNOWLEDGE_SEARCH } from './knowledge-search.js';

export type Features = ReadonlySet<Feature>;

type Gated = Pick<AgentSettings, 'aiGateway' | 'knowledgeSearch' | 'scoreThresholdSet'>;

/** Whether a setting depends on the organization's plan or features. */
export function isGated({ aiGateway, knowledgeSearch }: Gated): boolean {
  return aiGateway?.enabled === true || !isDeepStrictEqual({ ...knowledgeSearch }, { ...DEFAULT_KNOWLEDGE_SEARCH });
}

/** Settings as they have an effect: what the organization's plan and features no longer include is kept, and is as if it had never been set. */
export function inEffect<Settings extends Partial<Gated>>(settings: Settings, features: Features): Settings {
  return {
    ...settings,
    ...(settings.aiGateway?.enabled && !features.has('ai_gateway') && { aiGateway: { enabled: false } }),
    ...(!features.has('knowledge_search') && { knowledgeSearch: DEFAULT_KNOWLEDGE_SEARCH, scoreThresholdSet: false }),
  };
}

/** What going back to `wanted` can make of the settings: those that the organization may not set stay as they are, but for a gateway that is dropped. */
export function restorable<Settings extends Gated>(wanted: Settings, present: Gated, features: Features): Settings {
  const { aiGateway, knowledgeSearch, scoreThresholdSet } = present;
  return {
    ...wanted,
    ...(wanted.aiGateway !== null && !features.has('ai_gateway') && { aiGateway }),
    ...(!features.has('knowledge_search') && { knowledgeSearch, scoreThresholdSet }),
  };
}
