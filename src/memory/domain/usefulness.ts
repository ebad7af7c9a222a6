import { USE_HALF_LIFE_DAYS } from '../limits.js';

const HALF_LIFE_MS = USE_HALF_LIFE_DAYS * 86_400_000;

/**
 * The usefulness of a memory that was used once, at `at`.
 *
 * Each save, correction and search result counts as one use, and halves with every half-life that passes. The stored number is the
 * binary logarithm of the sum of uses as it would be at the epoch: it changes only with a use, and two numbers compare alike at any
 * time. Appearing in the prompt does not count, or memories in the prompt would stay there for ever.
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
