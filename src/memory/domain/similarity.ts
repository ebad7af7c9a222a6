import { SIMILAR_SHARE } from '../limits.js';

/** The numbers of terms of a stored memory and of a text to be saved. */
export interface Overlap {
  /** Terms that both have. */
  readonly common: number;
  /** All terms of the memory, and of the text. */
  readonly stored: number;
  readonly saved: number;
}

/** Whether two texts are about nearly the same. One may correct the other or state another fact; only their author can tell. */
export function isSimilar({ common, stored, saved }: Overlap): boolean {
  return common / Math.max(1, stored + saved - common) >= SIMILAR_SHARE;
}

/** Words that a note may contain or omit without a change of its meaning. */
const IDLE_WORDS = new Set(['the', 'user']);
/** White space and punctuation, without signs that carry meaning, such as + and %. */
const DIVIDERS = /[\s.,;:!?…。、，；：！？"'‘’“”«»()（）]+/u;
const INNER = /(?<=[\p{L}\p{N}])[.,:'’](?=[\p{L}\p{N}])/gu;

/**
 * Whether two texts have the same words and signs in the same order, ignoring case. A difference of a single word or sign may be
 * another fact, which would be lost if one text replaced the other.
 */
export function saysTheSame(left: string, right: string): boolean {
  const [one, two] = [wordsOf(left), wordsOf(right)];
  return one.length > 0 && one.length === two.length && one.every((word, index) => word === two[index]);
}

function wordsOf(text: string): string[] {
  // "2.5" is not "2 5", and "they're" not "they re".
  const masked = text.normalize().replace(INNER, (sign) => PLACEHOLDERS[sign] ?? sign);
  return masked
    .split(DIVIDERS)
    .flatMap((word) => (word === '' || IDLE_WORDS.has(word.toLowerCase()) ? [] : [caseless(word)]));
}

/** Private-use characters, which `DIVIDERS` does not match. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
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
