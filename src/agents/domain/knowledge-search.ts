import { z } from 'zod';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';

/** How retrieval over the agent's knowledge is tuned. */
export const knowledgeSearch = storedObject({
  maxResults: z.number().default(5),
  /** 0 to 1; results that score lower are dropped. */
  scoreThreshold: z.number().default(0.444),
  /** 0 ranks by keywords only, 1 by meaning only. */
  semanticWeight: z.number().default(0.4),
});
export type KnowledgeSearch = Stored<typeof knowledgeSearch>;

export const DEFAULT_KNOWLEDGE_SEARCH: KnowledgeSearch = knowledgeSearch.parse({});

/**
 * Whether the agent's threshold is somebody's choice: one that only stands there by default says nothing about scores by
 * keywords alone. Agents stored before choices were noted have chosen what differs from the default.
 */
export function isThresholdSet(search: KnowledgeSearch, noted: boolean | undefined): boolean {
  return noted ?? search.scoreThreshold !== DEFAULT_KNOWLEDGE_SEARCH.scoreThreshold;
}
