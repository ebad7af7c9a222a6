import { z } from 'zod';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';

/** The search settings of an agent's knowledge. */
export const knowledgeSearch = storedObject({
  maxResults: z.number().default(5),
  /** 0 to 1; results with a lower score are dropped. */
  scoreThreshold: z.number().default(0.444),
  /** 0 ranks by keywords only, 1 by meaning only. */
  semanticWeight: z.number().default(0.4),
});
export type KnowledgeSearch = Stored<typeof knowledgeSearch>;

export const DEFAULT_KNOWLEDGE_SEARCH: KnowledgeSearch = knowledgeSearch.parse({});

/**
 * Whether a caller chose the agent's threshold. The default is not meant for scores of a search by keywords alone. For agents of
 * releases that did not store the choice, a value other than the default counts as chosen.
 */
export function isThresholdSet(search: KnowledgeSearch, stored: boolean | undefined): boolean {
  return stored ?? search.scoreThreshold !== DEFAULT_KNOWLEDGE_SEARCH.scoreThreshold;
}
