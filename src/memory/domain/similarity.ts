import { SAME_SHARE, SIMILAR_SHARE } from '../limits.js';

/** What a memory and a text that is to be saved have in common. */
export interface Overlap {
  /** Terms of both. */
  readonly common: number;
  /** Terms of the memory, and of the text. */
  readonly stored: number;
  readonly saved: number;
}

/**
 * `same`: one says what the other says, perhaps with a word more; the newer wording takes the place of the older.
 * `similar`: it may be a correction or another fact, which only who wrote it can tell.
 */
export type Relation = 'same' | 'similar' | 'different';

/** Each text having words that the other lacks is never the same: "the flight on the 12th" is not that on the 13th. */
export function relationOf({ common, stored, saved }: Overlap): Relation {
  const share = common / Math.max(1, stored + saved - common);
  const contained = common === stored || common === saved;
  if (contained && share >= SAME_SHARE) return 'same';
  return share >= SIMILAR_SHARE ? 'similar' : 'different';
}
