import type { ModelMessage } from '../../models/index.js';
import type { ResultEntry } from '../domain/message.js';
import { charactersWithin, estimateTokens } from './token-estimate.js';

/** A model cannot use fewer tokens of an output than this, so only a note remains. */
const LEAST_TOKENS = 200;

/**
 * The share of the kept text that comes from the beginning. The end has the contexts of hooks and notes, so it is kept
 * too.
 */
const SHARE_OF_BEGINNING = 0.75;

const LEFT_OUT = 'characters of this output are left out here: it was too long to be read whole';

/**
 * Matches only the note itself, since a tool's output may contain a note too and must not hide further text from the
 * count.
 */
const NOTE = new RegExp(`(?:\\n\\n)?\\[(\\d{1,15}) ${LEFT_OUT}\\.\\](?:\\n\\n)?`);

/**
 * The beginning and the end of an output, with at most so many tokens, and a note about the missing characters between
 * them. For an output that was cut before, the note counts all missing characters.
 */
export function cutOutput(output: string, tokens: number): string {
  // Fast path: a character counts for at most one token.
  if (output.length <= tokens || estimateTokens(output) <= tokens) return output;
  const room = tokens < LEAST_TOKENS ? 0 : tokens;
  const start = charactersWithin(output, room * SHARE_OF_BEGINNING);
  const end = charactersWithin(output, room * (1 - SHARE_OF_BEGINNING), 'end');
  const left = output.slice(start, output.length - end);
  const [earlierNote = '', earlier = '0'] = NOTE.exec(left) ?? [];
  const characters = left.length - earlierNote.length + Number(earlier);
  const note = `[${characters} ${LEFT_OUT}.]`;
  return [output.slice(0, start), note, output.slice(output.length - end)].filter((part) => part !== '').join('\n\n');
}

/** The tokens of the results among the entries. Notes do not count, so that a note does not cause another cut. */
export function resultTokens(entries: readonly ModelMessage[]): number {
  return entries.reduce((sum, entry) => sum + (entry.role === 'tool' ? tokensOfResult(entry) : 0), 0);
}

/**
 * Shortens results until together they have at most so many tokens, without notes, or nothing is left to cut. Large and
 * old results come first: the weight of a result is its size times one more than the number of answers after it.
 * @returns the same array when nothing has to be shortened
 */
export function shortenResults(entries: readonly ModelMessage[], tokens: number): readonly ModelMessage[] {
  let excess = resultTokens(entries) - tokens;
  if (excess <= 0) return entries;
  const shortened = [...entries];
  for (const { entry, index } of byWeight(entries)) {
    const size = tokensOfResult(entry);
    const room = Math.max(0, size - excess);
    const output = cutOutput(entry.output, room);
    if (output.length >= entry.output.length) continue;
    shortened[index] = { ...entry, output };
    excess -= size - room;
    if (excess <= 0) break;
  }
  return shortened;
}

function byWeight(entries: readonly ModelMessage[]): { readonly entry: ResultEntry; readonly index: number }[] {
  let age = 1;
  const weighed = entries.toReversed().flatMap((entry, fromEnd) => {
    if (entry.role === 'assistant') age += 1;
    return entry.role === 'tool'
      ? [{ entry, index: entries.length - 1 - fromEnd, weight: tokensOfResult(entry) * age }]
      : [];
  });
  return weighed.sort((left, right) => right.weight - left.weight || left.index - right.index);
}

/** Results are counted before every call of the model, and few change in between. */
const cachedTokens = new WeakMap<ResultEntry, number>();

function tokensOfResult(entry: ResultEntry): number {
  const tokens = cachedTokens.get(entry) ?? estimateTokens(entry.output.replace(NOTE, ''));
  cachedTokens.set(entry, tokens);
  return tokens;
}
