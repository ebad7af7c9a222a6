import type { RunnableAgent } from '../../../../agents/index.js';
import type { UserContext } from '../../../../conversations/index.js';
import type { SourceKind } from '../../domain/source-kind.js';

export interface KnowledgeQuery {
  readonly query: string;
  /** Each in place of the agent's own setting. */
  readonly maxResults?: number;
  readonly scoreThreshold?: number;
  readonly semanticWeight?: number;
  /** Decides which scoped documents are seen; null sees none of them. */
  readonly userContext: UserContext | null;
}

export interface KnowledgeResult {
  readonly documentId: string;
  readonly chunkId: string;
  readonly kind: SourceKind;
  readonly title: string;
  readonly url: string | null;
  readonly heading: string | null;
  /** Of a PDF or a presentation, from 1. */
  readonly page: number | null;
  readonly text: string;
  readonly score: number;
  readonly semanticScore: number | null;
  readonly keywordScore: number | null;
}

/** What an agent finds in its knowledge: by keywords, and where it can by meaning. The route and the tool ask this. */
export abstract class SearchKnowledge {
  /** Best first. Never fails for want of embeddings: it searches by keywords alone then. */
  abstract execute(agent: RunnableAgent, query: KnowledgeQuery, signal: AbortSignal): Promise<readonly KnowledgeResult[]>;
}
