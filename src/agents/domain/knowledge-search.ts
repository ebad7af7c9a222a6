/** How retrieval over the agent's knowledge is tuned. */
export interface KnowledgeSearch {
  readonly maxResults: number;
  /** 0 to 1; results that score lower are dropped. */
  readonly scoreThreshold: number;
  /** 0 ranks by keywords only, 1 by meaning only. */
  readonly semanticWeight: number;
}

export const DEFAULT_KNOWLEDGE_SEARCH: KnowledgeSearch = { maxResults: 5, scoreThreshold: 0.444, semanticWeight: 0.4 };
