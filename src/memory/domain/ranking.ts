import { MAX_FOUND, MEANING_WEIGHT, MIN_SHARE_OF_BEST } from '../limits.js';

/** How a memory matches a query. */
export interface Candidate {
  readonly id: string;
  /** The positions of the query terms that it has. */
  readonly matched: readonly number[];
  /** 0 to 1; null if its meaning cannot be compared. */
  readonly meaning: number | null;
}

/** The ids of the memories that answer a query, best first. The fewer memories have a word, the more it counts. @param terms of the query */
export function rank(candidates: readonly Candidate[], terms: number): string[] {
  const weights = termWeights(candidates, terms);
  const most = weights.reduce((sum, weight) => sum + weight, 0);
  const scored = candidates.map(({ id, matched, meaning }) => {
    const words = most === 0 ? 0 : matched.reduce((sum, term) => sum + (weights[term] ?? 0), 0) / most;
    return { id, score: meaning === null ? words : MEANING_WEIGHT * meaning + (1 - MEANING_WEIGHT) * words };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= best * MIN_SHARE_OF_BEST)
    .sort((left, right) => right.score - left.score || (left.id < right.id ? 1 : -1))
    .slice(0, MAX_FOUND)
    .map(({ id }) => id);
}

function termWeights(candidates: readonly Candidate[], terms: number): readonly number[] {
  const counts = new Array<number>(terms).fill(0);
  for (const { matched } of candidates) for (const term of matched) counts[term] = (counts[term] ?? 0) + 1;
  return counts.map((count) => Math.log(1 + candidates.length / Math.max(1, count)));
}
