import type { SearchScope } from './search-scope.js';

/** A chunk as it is judged: what it says, and under which headings. */
export interface ChunkText {
  readonly chunkId: string;
  /** Of its document. */
  readonly title: string;
  /** The headings above it, outermost first, separated by ` › `; null where there are none. */
  readonly heading: string | null;
  readonly text: string;
}

export interface KeywordMatch {
  readonly chunkId: string;
  /** Above 0, at most 1. */
  readonly score: number;
}

/** A query whose words have been looked up in the agent's vocabulary. */
export interface KeywordQuery {
  /** The best chunks, best first; equal scores in the order of the documents' kinds and keys, and of the chunks in a document. */
  top(limit: number): Promise<readonly KeywordMatch[]>;
  /** 0 to 1: what `top` would say of the chunk. Asks nobody. */
  scoreOf(chunk: ChunkText): number;
}

/** Finds words of any language. The same order on every database. */
export abstract class KeywordSearch {
  abstract prepare(scope: SearchScope, query: string): Promise<KeywordQuery>;
}
