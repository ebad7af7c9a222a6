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
  /** With the anchor that is nearest above the text, where there is one. */
  readonly url: string | null;
  /** Those above the text, outermost first, separated by ` › `; null where there are none. */
  readonly heading: string | null;
  readonly headings: readonly string[];
  /** Of a PDF or a presentation, from 1. */
  readonly page: number | null;
  readonly text: string;
  readonly score: number;
  readonly semanticScore: number | null;
  readonly keywordScore: number | null;
}

/** What an agent finds in its knowledge: by keywords, and where it can by meaning. The route and the tool ask this. */
export abstract class SearchKnowledge {
  /** Best first, the same text once. Never fails for want of embeddings: it searches by keywords alone then. */
  abstract execute(agent: RunnableAgent, query: KnowledgeQuery, signal: AbortSignal): Promise<readonly KnowledgeResult[]>;
}
