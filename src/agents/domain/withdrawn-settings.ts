import { isDeepStrictEqual } from 'node:util';
import type { Feature } from '../../access/index.js';
import { type AgentSettings, DEFAULT_KNOWLEDGE_SEARCH } from './agent-settings.js';

export type Features = ReadonlySet<Feature>;

type Gated = Pick<AgentSettings, 'aiGateway' | 'knowledgeSearch' | 'scoreThresholdSet'>;

/** Whether any setting needs a feature of the organization. */
export function isGated({ aiGateway, knowledgeSearch }: Gated): boolean {
  return aiGateway?.enabled === true || !isDeepStrictEqual({ ...knowledgeSearch }, { ...DEFAULT_KNOWLEDGE_SEARCH });
}

/** The settings in effect: those that need a feature which the organization lacks have their defaults. Their values stay stored. */
export function inEffect<Settings extends Partial<Gated>>(settings: Settings, features: Features): Settings {
  return {
    ...settings,
    ...(settings.aiGateway?.enabled && !features.has('ai_gateway') && { aiGateway: { enabled: false } }),
    ...(!features.has('knowledge_search') && { knowledgeSearch: DEFAULT_KNOWLEDGE_SEARCH, scoreThresholdSet: false }),
  };
}

/**
 * The settings to restore from a version with `wanted`. Those that the organization may not set keep their present values, but
 * removing a gateway is always allowed.
 */
export function restorable<Settings extends Gated>(wanted: Settings, present: Gated, features: Features): Settings {
  const { aiGateway, knowledgeSearch, scoreThresholdSet } = present;
  return {
    ...wanted,
    ...(wanted.aiGateway !== null && !features.has('ai_gateway') && { aiGateway }),
    ...(!features.has('knowledge_search') && { knowledgeSearch, scoreThresholdSet }),
  };
}
