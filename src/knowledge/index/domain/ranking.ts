/** BM25's saturation (`k1`) and normalization by length (`b`). A chunk is a passage: that it has all words tells more than how often it has one. */
const SATURATION = 0.6;
const LENGTH_SHARE = 0.75;
/** A title or heading counts as this part of one more occurrence: it may be about other chunks of the document. */
const NAMED = 0.7;
/** What the nearness of all words adds, as a part of what their occurrences give. */
export const NEARNESS_SHARE = 0.4;
/** Words further apart have nothing to do with one another. */
const MAX_DISTANCE = 60;
/** Scores beyond are noise of the arithmetic, which must not decide about the order. */
const SCORE_DIGITS = 1e6;

/** What a word tells of a chunk that has it: more, the fewer chunks do. */
export function informationOf(chunks: number, having: number): number {
  return Math.log(1 + (chunks - having + 0.5) / (having + 0.5));
}

/** How often a chunk has a term. */
export function frequencyOf(count: number, isNamed: boolean): number {
  return count + (isNamed ? NAMED : 0);
}

/** 0 to 1.6; about 1 for what occurs once in a chunk of average length. */
export function saturated(frequency: number, length: number, averageLength: number): number {
  return (
    (frequency * (SATURATION + 1)) /
    (frequency + SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / averageLength))
  );
}

/** 0 to 1, of two words by the positions of each, ascending: 1 side by side. */
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

/** With them, half of a query's words come to 0.4, and all of them to 0.8. */
const [STEEPNESS, POWER] = [1.6, 1.75];

/**
 * A chunk of average length that has each word once, near one another, comes close to 1. Meaning is weighed against it: what tells good
 * passages from better ones must stay a difference near 1, and stray words must come to little.
 * @param relevance 0 to 2: 1 for each word once, and up to `NEARNESS_SHARE` for their nearness
 * @returns 0 to 1
 */
export function scoreOfRelevance(relevance: number): number {
  return roundedScore(1 - Math.exp(-STEEPNESS * relevance ** POWER));
}

export function roundedScore(score: number): number {
  return Math.round(score * SCORE_DIGITS) / SCORE_DIGITS;
}
