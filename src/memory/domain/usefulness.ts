import { USE_HALF_LIFE_DAYS } from '../limits.js';

const HALF_LIFE_MS = USE_HALF_LIFE_DAYS * 86_400_000;

/**
 * The usefulness of a memory that was used once, at `at`: the binary logarithm of the sum of uses, each halved per half-life, as it would be
 * at the epoch. So it changes only with a use. Saves, corrections and search results are uses. The prompt is not, or its memories would
 * always stay in it.
 */
export function usefulnessOf(at: Date): number {
  return at.getTime() / HALF_LIFE_MS;
}

/** Half-lives after which a use counts nothing. PostgreSQL fails to compute smaller powers. */
const MAX_HALF_LIVES = 100;

/** SQL for the new value of `column` after one more use; `once` is `usefulnessOf` the time of that use. */
export function usedOnceMore(column: string, once: string): string {
  const distance = `least(abs(${column} - ${once}), ${MAX_HALF_LIVES})`;
  return `greatest(${column}, ${once}) + ln(1 + power(2, -${distance})) / ln(2)`;
}
