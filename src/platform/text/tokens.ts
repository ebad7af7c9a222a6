import { fold } from './fold.js';
import { nextRun } from './runs.js';

/** An indexed word, or two neighbouring letters of a script without spaces. */
export interface Token {
  readonly form: string;
  readonly at: number;
}

/** Longer words are encoded data, which users do not search. */
export const MAX_FORM_LENGTH = 64;

const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const UNSPACED = `[${UNSPACED_SCRIPTS.map((script) => `\\p{scx=${script}}`).join('')}]`;
const HAS_UNSPACED = new RegExp(UNSPACED, 'u');
const PIECE = new RegExp(
  `(?<unspaced>(?:(?=\\p{L})${UNSPACED}\\p{M}*)+)|(?<word>[\\p{L}\\p{N}\\p{M}]+?(?=(?=\\p{L})${UNSPACED}|[^\\p{L}\\p{N}\\p{M}]|$))`,
  'gu',
);
const LETTER = /\P{M}\p{M}*/gu;
/** Names and numbers that are also searched as a whole: `AB-1234`, `max_retries`, `2.5.1`. */
const NAME = /^(?=.*[-_\p{N}])[^'’]*$/u;

/** A word, or letters of a script without spaces. */
export interface Piece {
  readonly text: string;
  readonly at: number;
  readonly unspaced: boolean;
}

/** The searchable pieces of a folded text; a name precedes its parts. */
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
      // The short part at an apostrophe (l', 's) is not a word.
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

/** Pairs of neighbouring letters; a single letter by itself. */
export function pairsOf(text: string): { readonly form: string; readonly at: number }[] {
  const letters = [...text.matchAll(LETTER)];
  if (letters.length < 2) return [{ form: text, at: 0 }];
  return letters
    .slice(1)
    .map(({ 0: letter }, index) => ({ form: (letters[index]?.[0] ?? '') + letter, at: letters[index]?.index ?? 0 }));
}

/**
 * The words of a folded text in order. Scripts without spaces need no dictionary, because any word consists of pairs of letters. So
 * an index does not depend on the runtime's version of word segmentation.
 */
export function* tokensOf(folded: string): Generator<Token> {
  for (const piece of piecesOf(folded)) yield* tokensOfPiece(piece);
}

function* tokensOfPiece({ text, at, unspaced }: Piece): Generator<Token> {
  if (unspaced) for (const pair of pairsOf(text)) yield { form: pair.form, at: at + pair.at };
  else if (text.length <= MAX_FORM_LENGTH) yield { form: text, at };
}

export function formsOf(...texts: readonly (string | null)[]): Set<string> {
  const forms = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const { form } of tokensOf(fold(text))) forms.add(form);
  }
  return forms;
}
