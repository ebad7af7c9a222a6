import { SIMILAR_SHARE } from '../limits.js';

/** What a memory and a text that is to be saved have in common. */
export interface Overlap {
  /** Terms of both. */
  readonly common: number;
  /** Terms of the memory, and of the text. */
  readonly stored: number;
  readonly saved: number;
}

/** Whether two texts are about much the same: one may correct the other, or be another fact, which only who wrote it can tell. */
export function isSimilar({ common, stored, saved }: Overlap): boolean {
  return common / Math.max(1, stored + saved - common) >= SIMILAR_SHARE;
}

/** Words that stand in notes of one thing or are left out of them. */
const IDLE_WORDS = new Set(['the', 'user']);
/** White space, and signs that only divide a text; not those that can mean something, such as + and %. */
const DIVIDERS = /[\s.,;:!?…。、，；：！？"'‘’“”«»()（）]+/u;
const INNER = /(?<=[\p{L}\p{N}])[.,:'’](?=[\p{L}\p{N}])/gu;

/**
 * Whether two texts say the same: the same words and signs in the same order, whatever their case. Anything else, if it is
 * one word or one sign, may be another fact, and would be lost if one took the place of the other.
 */
export function saysTheSame(left: string, right: string): boolean {
  const [one, two] = [wordsOf(left), wordsOf(right)];
  return one.length > 0 && one.length === two.length && one.every((word, index) => word === two[index]);
}

function wordsOf(text: string): string[] {
  // "2.5" is not "2 5", and "they're" not "they re".
  const kept = text.normalize().replace(INNER, (sign) => PRIVATE[sign] ?? sign);
  return kept
    .split(DIVIDERS)
    .flatMap((word) => (word === '' || IDLE_WORDS.has(word.toLowerCase()) ? [] : [caseless(word)]));
}

/** Of no script, so that they divide nothing. */
const PRIVATE: Readonly<Record<string, string>> = {
  '.': '\ue000',
  ',': '\ue001',
  ':': '\ue002',
  "'": '\ue003',
  '’': '\ue003',
};

/** "US" is not "us". */
function caseless(word: string): string {
  return /^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase();
}
