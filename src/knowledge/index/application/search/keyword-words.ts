import { fold, isFunctionWord, MAX_FORM_LENGTH, pairsOf, piecesOf } from '../../../../platform/text/index.js';
import { MAX_QUERY_LENGTH } from '../../domain/query.js';

export const MAX_QUERY_WORDS = 64;

/** One word of a query. */
export interface QueryWord {
  /** Folded. */
  readonly text: string;
  /** Of a script without spaces: it is found by its pairs of letters. */
  readonly unspaced: boolean;
  /** Holds sentences together; says little of what is asked for. */
  readonly isFunctionWord: boolean;
  /** A name of several parts, which are words of the query too: where it is not known as a whole, nothing is missing. */
  readonly isWhole: boolean;
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'word' });
const LETTERS_ALONE = /^\P{M}\p{M}*$/u;
/** Korean particles, which follow a noun without a space. */
const PARTICLE = /(?<=.{2})(?:에서|으로|까지|부터|에게|한테|이나|은|는|이|가|을|를|의|에|로|와|과|도|만)$/u;
const HANGUL = /^\p{Script=Hangul}+$/u;

/** Each word once, in the order of the query. */
export function queryWords(query: string): QueryWord[] {
  const words = new Map<string, QueryWord>();
  let nameUntil = -1;
  for (const { text, at, unspaced } of piecesOf(fold(query.slice(0, MAX_QUERY_LENGTH)))) {
    const isWhole = !unspaced && /[-./_]/.test(text);
    if (isWhole) nameUntil = at + text.length;
    for (const word of unspaced ? unspacedWords(text) : [text.slice(0, MAX_FORM_LENGTH)]) {
      if (words.size >= MAX_QUERY_WORDS) break;
      if (!words.has(word)) words.set(word, { text: word, unspaced, isFunctionWord: at >= nameUntil && isFunctionWord(word), isWhole });
    }
  }
  const all = [...words.values()];
  const saying = all.filter((word) => !(word.unspaced && word.isFunctionWord));
  return saying.length > 0 ? saying : all;
}

/** As the runtime's dictionary cuts them; letters that it knows no word for are a name. */
function unspacedWords(text: string): string[] {
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

/** Other spellings of what it may be, with how sure that is. */
export function variantsOf({ text, unspaced }: QueryWord): readonly { readonly text: string; readonly weight: number }[] {
  if (unspaced) {
    const noun = HANGUL.test(text) ? text.replace(PARTICLE, '') : text;
    return noun === text ? [] : [{ text: noun, weight: 0.95 }];
  }
  // As umlauts are written without them.
  const folded = text.replace(/([aou])e/g, '$1');
  return folded === text ? [] : [{ text: folded, weight: 0.95 }];
}

/** What a chunk's index holds of a text. */
export function lexemesOfWord(text: string, unspaced: boolean): string[] {
  return unspaced ? [...new Set(pairsOf(text).map(({ form }) => form))] : [text];
}
