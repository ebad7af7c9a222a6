import { USE_HALF_LIFE_DAYS } from '../limits.js';

const HALF_LIFE_MS = USE_HALF_LIFE_DAYS * 86_400_000;

/**
 * How useful a memory is: each time it was saved, corrected or found by a search counts one, and half as much with each
 * half-life that has passed since. Kept as the binary logarithm of that sum as it would be at the epoch, so that the
 * number of a memory that nobody uses never changes, and comparing the numbers compares memories at any moment.
 * Being in the prompt counts nothing: what is there would stay there for ever.
 * @returns that of a memory which was used once, at `at`
 */
export function usefulnessOf(at: Date): number {
  return at.getTime() / HALF_LIFE_MS;
}

/** Half-lives after which a use counts nothing; what is smaller PostgreSQL refuses to compute. */
const FORGOTTEN = 100;

/** SQL: what `column` becomes when the memory is used once more; `once` is `usefulnessOf` that moment. */
export function usedOnceMore(column: string, once: string): string {
  const apart = `least(abs(${column} - ${once}), ${FORGOTTEN})`;
  return `greatest(${column}, ${once}) + ln(1 + power(2, -${apart})) / ln(2)`;
}
