import type { SearchScope } from './search-scope.js';

export interface KeywordMatch {
  readonly chunkId: string;
  /** Above 0, at most 1. */
  readonly score: number;
}

/** A query that has been looked up in everything that the run may see. Nothing else influences a score. */
export interface KeywordQuery {
  /** Whether any word of the query stands in anything that the run may see. */
  readonly says: boolean;
  /** The best chunks, best first; equal scores in the order of the documents' kinds and keys, and of the chunks in a document. */
  top(limit: number): Promise<readonly KeywordMatch[]>;
  /** What `top` would say of these chunks; those that have no word of the query are left out. */
  scoresOf(chunkIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** Finds words of any language. The same order on every database. */
export abstract class KeywordSearch {
  abstract prepare(scope: SearchScope, query: string): Promise<KeywordQuery>;
}
