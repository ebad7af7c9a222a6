import { fold, isFunctionWord, MAX_FORM_LENGTH, pairsOf, piecesOf, stemsOf } from '../../../../platform/text/index.js';
import { MAX_QUERY_LENGTH } from '../../limits.js';

export const MAX_QUERY_WORDS = 64;

/** What may stand in a text for a word of a query. */
export interface Alternative {
  readonly term: string;
  /** How well it answers, above 0, at most 1. */
  readonly weight: number;
}

/** One word of a query, or two neighbouring letters of a script without spaces. */
export interface QueryWord {
  /** Folded. */
  readonly text: string;
  readonly alternatives: readonly Alternative[];
  /** Of a script without spaces. */
  readonly unspaced: boolean;
  /** A name of several parts, which are words of the query too: nothing is missing where no text has it as a whole. */
  readonly isWhole: boolean;
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'word' });
const LETTERS_ALONE = /^\P{M}\p{M}*$/u;
/** Korean particles, which follow a noun without a space. */
const PARTICLE =
  /^(?=\p{Script=Hangul}+$)(.{2,}?)(?:에서|으로|까지|부터|에게|한테|이나|은|는|이|가|을|를|의|에|로|와|과|도|만)$/u;
/** Of a spelling without umlauts. */
const RESPELLED = 0.95;

/**
 * Each word once, in the order of the query. Those that hold sentences together are left out where there are others.
 * @param languages of what is searched
 */
export function queryWords(query: string, languages: readonly string[]): QueryWord[] {
  const words = new Map<string, QueryWord>();
  const saying = new Set<string>();
  let nameUntil = -1;
  for (const { text, at, unspaced } of piecesOf(fold(query.slice(0, MAX_QUERY_LENGTH)))) {
    const isWhole = !unspaced && /[-./_]/.test(text);
    if (isWhole) nameUntil = at + text.length;
    for (const part of unspaced ? segmentsOf(text) : [text.slice(0, MAX_FORM_LENGTH)]) {
      const says = at < nameUntil || !isFunctionWord(part, unspaced ? [] : languages);
      for (const word of unspaced ? unspacedWords(part) : [spacedWord(part, isWhole, languages)]) {
        if (words.size >= MAX_QUERY_WORDS) break;
        if (!words.has(word.text)) words.set(word.text, word);
        if (says) saying.add(word.text);
      }
    }
  }
  return [...words.values()].filter(({ text }) => saying.size === 0 || saying.has(text));
}

function spacedWord(text: string, isWhole: boolean, languages: readonly string[]): QueryWord {
  const weights = new Map(stemsOf(text, languages).map((stem) => [stem, 1]));
  // As umlauts are written without them.
  const respelled = isWhole ? text : text.replace(/([aou])e/g, '$1');
  if (respelled !== text)
    for (const stem of stemsOf(respelled, languages)) if (!weights.has(stem)) weights.set(stem, RESPELLED);
  return { text, alternatives: Array.from(weights, ([term, weight]) => ({ term, weight })), unspaced: false, isWhole };
}

function unspacedWords(segment: string): QueryWord[] {
  const noun = PARTICLE.exec(segment)?.[1] ?? segment;
  return pairsOf(noun).map(({ form }) => ({
    text: form,
    alternatives: [{ term: form, weight: 1 }],
    unspaced: true,
    isWhole: false,
  }));
}

/** Words as the runtime's dictionary cuts them; letters that it knows no word for are a name. */
function segmentsOf(text: string): string[] {
  const words: string[] = [];
  let name = '';
  const endName = (): void => {
    if (name !== '') words.push(name);
    name = '';
  };
  for (const { segment } of SEGMENTS.segment(text)) {
    if (LETTERS_ALONE.test(segment) && !isFunctionWord(segment)) {
      name += segment;
      continue;
    }
    endName();
    words.push(segment);
  }
  endName();
  return words;
}
