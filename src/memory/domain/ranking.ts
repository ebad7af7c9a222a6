import { MAX_FOUND, MEANING_WEIGHT, MIN_SHARE_OF_BEST } from '../limits.js';

/** What is known of how a memory answers a query. */
export interface Candidate {
  readonly id: string;
  /** Terms of the query that it has. */
  readonly matched: readonly string[];
  /** 0 to 1; null where its meaning cannot be compared. */
  readonly meaning: number | null;
}

/**
 * The ids of the memories that answer a query, best first. By words, those count more that fewer memories have.
 * @param candidates all memories of the user
 * @param terms of the query
 */
export function rank(candidates: readonly Candidate[], terms: readonly string[]): string[] {
  const weights = weightsOf(candidates, terms);
  const most = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const scored = candidates.map(({ id, matched, meaning }) => {
    const words = most === 0 ? 0 : matched.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0) / most;
    return { id, score: meaning === null ? words : MEANING_WEIGHT * meaning + (1 - MEANING_WEIGHT) * words };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= best * MIN_SHARE_OF_BEST)
    .sort((left, right) => right.score - left.score || (left.id < right.id ? 1 : -1))
    .slice(0, MAX_FOUND)
    .map(({ id }) => id);
}

function weightsOf(candidates: readonly Candidate[], terms: readonly string[]): ReadonlyMap<string, number> {
  const having = new Map(terms.map((term) => [term, 0]));
  for (const { matched } of candidates) for (const term of matched) having.set(term, (having.get(term) ?? 0) + 1);
  return new Map([...having].map(([term, count]) => [term, Math.log(1 + candidates.length / Math.max(1, count))]));
}
