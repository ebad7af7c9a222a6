/** How retrieval over the agent's knowledge is tuned. */
export interface KnowledgeSearch {
  readonly maxResults: number;
  /** 0 to 1; results that score lower are dropped. */
  readonly scoreThreshold: number;
  /** 0 ranks by keywords only, 1 by meaning only. */
  readonly semanticWeight: number;
}

/**
 * Whether the agent's threshold is somebody's choice: one that only stands there by default says nothing about scores by
 * keywords alone. Agents stored before choices were noted have chosen what differs from the default.
 */
export function isThresholdSet(search: KnowledgeSearch, noted: boolean | undefined): boolean {
  return noted ?? search.scoreThreshold !== DEFAULT_KNOWLEDGE_SEARCH.scoreThreshold;
}

export const DEFAULT_KNOWLEDGE_SEARCH: KnowledgeSearch = { maxResults: 5, scoreThreshold: 0.444, semanticWeight: 0.4 };
