/** BM25's saturation (`k1`) and normalization by length (`b`). In a passage, having all words matters more than how often it has one. */
const SATURATION = 0.6;
const LENGTH_SHARE = 0.75;
/** A title or heading counts as this part of an occurrence, because it may be about other chunks of the document. */
const NAMED = 0.7;
/** The nearness of all words adds at most this share of what their occurrences give. */
export const NEARNESS_SHARE = 0.4;
/** Words further apart are unrelated. */
const MAX_DISTANCE = 60;
/** Differences below this are noise of the arithmetic, which must not decide the order. */
const SCORE_DIGITS = 1e6;

/** The weight of a word (BM25's IDF): the fewer chunks have it, the more it counts. */
export function informationOf(chunks: number, having: number): number {
  return Math.log(1 + (chunks - having + 0.5) / (having + 0.5));
}

/** How often a chunk has a term. */
export function frequencyOf(count: number, isNamed: boolean): number {
  return count + (isNamed ? NAMED : 0);
}

/** 0 to 1.6; about 1 for one occurrence in a chunk of average length. */
export function saturated(frequency: number, length: number, averageLength: number): number {
  const share = 1 - LENGTH_SHARE + (LENGTH_SHARE * length) / averageLength;
  return (frequency * (SATURATION + 1)) / (frequency + SATURATION * share);
}

/** The nearness of two words by the positions of each, ascending: 0 to 1; 1 for neighbours. */
export function closeness(left: readonly number[], right: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const distance = (right[j] ?? 0) - (left[i] ?? 0);
    least = Math.min(least, Math.abs(distance));
    if (distance > 0) i += 1;
    else j += 1;
  }
  return least > MAX_DISTANCE ? 0 : 1 / (1 + Math.max(0, least - 1) / 4);
}

/** With these, half of a query's words give 0.4, and all of them 0.8. */
const [STEEPNESS, POWER] = [1.6, 1.75];

/**
 * A chunk of average length with each word once, near one another, scores close to 1. The score is weighed against that of meaning, so
 * the difference between good and better passages must stay visible near 1, and few matching words must score low.
 * @param relevance 0 to 2: 1 for each word once, and up to `NEARNESS_SHARE` for their nearness
 * @returns 0 to 1
 */
export function scoreOfRelevance(relevance: number): number {
  return roundedScore(1 - Math.exp(-STEEPNESS * relevance ** POWER));
}

export function roundedScore(score: number): number {
  return Math.round(score * SCORE_DIGITS) / SCORE_DIGITS;
}
