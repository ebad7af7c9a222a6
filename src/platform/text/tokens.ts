import { fold } from './fold.js';
import { nextRun } from './runs.js';

/** A word as it is indexed, or two neighbouring letters of a script without spaces. */
export interface Token {
  readonly form: string;
  /** Where it begins in the folded text. */
  readonly at: number;
}

/** Longer words are encoded data, for which users do not search. */
export const MAX_FORM_LENGTH = 64;

const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const UNSPACED = `[${UNSPACED_SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}]`;
const HAS_UNSPACED = new RegExp(UNSPACED, 'u');
const PIECE = new RegExp(
  `(?<unspaced>(?:(?=\\p{L})${UNSPACED}\\p{M}*)+)|(?<word>[\\p{L}\\p{N}\\p{M}]+?(?=(?=\\p{L})${UNSPACED}|[^\\p{L}\\p{N}\\p{M}]|$))`,
  'gu',
);
const LETTER = /\P{M}\p{M}*/gu;
/** Names and numbers that are looked for as a whole: `AB-1234`, `max_retries`, `2.5.1`. */
const NAME = /^(?=.*[-_\p{N}])[^'’]*$/u;

/** A stretch of a text without any space in it: one word, or letters of a script that has no spaces. */
export interface Piece {
  readonly text: string;
  readonly at: number;
  readonly unspaced: boolean;
}

/** What is to be searched for, of a text that is folded already: also names as a whole, before their parts. */
export function* piecesOf(folded: string): Generator<Piece> {
  for (let run = nextRun(folded, 0); run; run = nextRun(folded, run.at + run.text.length)) {
    const { text, at } = run;
    if (run.isPlain) yield { text, at, unspaced: false };
    else yield* piecesOfRun(text, at);
  }
}

function* piecesOfRun(text: string, at: number): Generator<Piece> {
  const pieces = [...split(text, at)];
  const isName = pieces.length > 1 && NAME.test(text) && !pieces.some(({ unspaced }) => unspaced);
  if (isName) yield { text, at, unspaced: false };
  yield* pieces;
}

function* split(run: string, start: number): Generator<Piece> {
  if (!HAS_UNSPACED.test(run)) {
    let at = start;
    for (const text of run.split(/[-./'’_]/)) {
      // What an apostrophe cuts off (l', 's) is no word.
      if (text.length > 1 || /\p{N}/u.test(text) || text.length === run.length) yield { text, at, unspaced: false };
      at += text.length + 1;
    }
    return;
  }
  for (const { groups, index } of run.matchAll(PIECE)) {
    const text = groups?.['unspaced'] ?? groups?.['word'] ?? '';
    yield { text, at: start + index, unspaced: groups?.['unspaced'] !== undefined };
  }
}

/** Pairs of neighbouring letters; a letter that stands alone is its own. */
export function pairsOf(text: string): { readonly form: string; readonly at: number }[] {
  const letters = [...text.matchAll(LETTER)];
  if (letters.length < 2) return [{ form: text, at: 0 }];
  return letters
    .slice(1)
    .map(({ 0: letter }, index) => ({ form: (letters[index]?.[0] ?? '') + letter, at: letters[index]?.index ?? 0 }));
}

/**
 * The words of a text in its order. Scripts without spaces need no dictionary for that: whatever a word is made of, its pairs of
 * letters are there. So an index does not depend on what a version of the runtime takes for a word.
 */
export function* tokensOf(folded: string): Generator<Token> {
  for (const piece of piecesOf(folded)) yield* tokensOfPiece(piece);
}

function* tokensOfPiece({ text, at, unspaced }: Piece): Generator<Token> {
  if (unspaced) for (const pair of pairsOf(text)) yield { form: pair.form, at: at + pair.at };
  else if (text.length <= MAX_FORM_LENGTH) yield { form: text, at };
}

/** Each word of some texts once. */
export function formsOf(...texts: readonly (string | null)[]): Set<string> {
  const forms = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const { form } of tokensOf(fold(text))) forms.add(form);
  }
  return forms;
}
