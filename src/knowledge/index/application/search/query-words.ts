import { fold, isFunctionWord, MAX_FORM_LENGTH, pairsOf, piecesOf, stemsOf } from '../../../../platform/text/index.js';
import { MAX_QUERY_LENGTH } from '../../limits.js';

const MAX_QUERY_WORDS = 64;

/** A term that a text may have in place of a word of the query. */
export interface Alternative {
  readonly term: string;
  /** How well it matches the word: above 0, at most 1. */
  readonly weight: number;
}

/** One word of a query, or two neighbouring letters of a script without spaces. */
export interface QueryWord {
  /** Folded. */
  readonly text: string;
  readonly alternatives: readonly Alternative[];
  /** The word is of a script without spaces. */
  readonly isUnspaced: boolean;
  /** A name with several parts, such as `read-me.txt`. Its parts are words of the query too, so the whole name may be missing in all texts. */
  readonly isWholeName: boolean;
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'word' });
const SINGLE_LETTER = /^\P{M}\p{M}*$/u;
/** Korean particles, which follow a noun without a space. */
const PARTICLE =
  /^(?=\p{Script=Hangul}+$)(.{2,}?)(?:에서|으로|까지|부터|에게|한테|이나|은|는|이|가|을|를|의|에|로|와|과|도|만)$/u;
/** The weight of a spelling without umlauts. */
const RESPELLED = 0.95;

export function isSingleLetter(text: string): boolean {
  return SINGLE_LETTER.test(text);
}

/**
 * The words of a query, each once, in the order of the query. Function words are omitted if there are others.
 * @param languages of the documents that are searched
 */
export function queryWords(query: string, languages: readonly string[]): QueryWord[] {
  const words = new Map<string, QueryWord>();
  const contentWords = new Set<string>();
  let nameUntil = -1;
  for (const { text, at, unspaced } of piecesOf(fold(query.slice(0, MAX_QUERY_LENGTH)))) {
    const isWholeName = !unspaced && /[-./_]/.test(text);
    if (isWholeName) nameUntil = at + text.length;
    for (const part of unspaced ? segmentsOf(text) : [text.slice(0, MAX_FORM_LENGTH)]) {
      const isContent = at < nameUntil || !isFunctionWord(part, unspaced ? [] : languages);
      for (const word of unspaced ? unspacedWords(part) : [spacedWord(part, isWholeName, languages)]) {
        if (words.size >= MAX_QUERY_WORDS) break;
        if (!words.has(word.text)) words.set(word.text, word);
        if (isContent) contentWords.add(word.text);
      }
    }
  }
  return [...words.values()].filter(({ text }) => contentWords.size === 0 || contentWords.has(text));
}

function spacedWord(text: string, isWholeName: boolean, languages: readonly string[]): QueryWord {
  const weights = new Map(stemsOf(text, languages).map((stem) => [stem, 1]));
  // A text may have an umlaut where the query has two letters.
  const respelled = isWholeName ? text : text.replace(/([aou])e/g, '$1');
  if (respelled !== text)
    for (const stem of stemsOf(respelled, languages)) if (!weights.has(stem)) weights.set(stem, RESPELLED);
  const alternatives = Array.from(weights, ([term, weight]) => ({ term, weight }));
  return { text, alternatives, isUnspaced: false, isWholeName };
}

function unspacedWords(segment: string): QueryWord[] {
  const noun = PARTICLE.exec(segment)?.[1] ?? segment;
  return pairsOf(noun).map(({ form: text }) => {
    return { text, alternatives: [{ term: text, weight: 1 }], isUnspaced: true, isWholeName: false };
  });
}

/** Splits a text by the runtime's dictionary. Neighbouring single letters are combined, because they are likely a name. */
function segmentsOf(text: string): string[] {
  const words: string[] = [];
  let isInName = false;
  for (const { segment } of SEGMENTS.segment(text)) {
    const isLetter = isSingleLetter(segment) && !isFunctionWord(segment);
    words.push(isLetter && isInName ? `${words.pop() ?? ''}${segment}` : segment);
    isInName = isLetter;
  }
  return words;
}
