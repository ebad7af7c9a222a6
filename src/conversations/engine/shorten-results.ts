import type { ModelMessage } from '../../models/index.js';
import type { ResultEntry } from '../domain/message.js';
import { charactersWithin, tokensOf } from './token-estimate.js';

/** Less of an output than this says nothing: a note alone takes its place. */
const LEAST_TOKENS = 200;

/** Of what is kept of an output, the share of its beginning; the end has what hooks had to say, and notes. */
const SHARE_OF_BEGINNING = 0.75;

const NOTE = /(?:\n\n)?\[(\d+) characters of this output are left out here: [^\]]*\](?:\n\n)?/;

/**
 * The output as a model is given it, with no more tokens than these: its beginning and its end, and between them a note of
 * what is left out. An output that was cut before says how much is missing altogether.
 */
export function cutOutput(output: string, tokens: number): string {
  // Fast path: a character never counts for more than one.
  if (output.length <= tokens || tokensOf(output) <= tokens) return output;
  const room = tokens < LEAST_TOKENS ? 0 : tokens;
  const start = charactersWithin(output, room * SHARE_OF_BEGINNING);
  const end = charactersWithin(output, room * (1 - SHARE_OF_BEGINNING), 'end');
  const left = output.slice(start, output.length - end);
  const [earlierNote = '', earlier = '0'] = NOTE.exec(left) ?? [];
  const characters = left.length - earlierNote.length + Number(earlier);
  const note = `[${characters} characters of this output are left out here: it was too long to be read whole.]`;
  return [output.slice(0, start), note, output.slice(output.length - end)].filter((part) => part !== '').join('\n\n');
}

/** What the results among the entries take, in tokens, notes apart: no other result is to be cut for a note. */
export function resultTokens(entries: readonly ModelMessage[]): number {
  return entries.reduce((sum, entry) => sum + (entry.role === 'tool' ? tokensOfResult(entry) : 0), 0);
}

/**
 * The entries with results that have no more tokens than these together, notes apart, as far as shortening can do that: the largest and
 * oldest are shortened first. Of two results of equal size the one that comes an answer earlier counts double, so that what a
 * model has just asked for stays for as long as anything else can go.
 */
export function shortenResults(entries: readonly ModelMessage[], tokens: number): readonly ModelMessage[] {
  let excess = resultTokens(entries) - tokens;
  if (excess <= 0) return entries;
  const shortened = [...entries];
  for (const { entry, index } of inOrderOfWeight(entries)) {
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

function inOrderOfWeight(entries: readonly ModelMessage[]): { readonly entry: ResultEntry; readonly index: number }[] {
  let age = 1;
  const weighed = entries.toReversed().flatMap((entry, fromEnd) => {
    if (entry.role === 'assistant') age += 1;
    return entry.role === 'tool' ? [{ entry, index: entries.length - 1 - fromEnd, weight: tokensOfResult(entry) * age }] : [];
  });
  return weighed.sort((left, right) => right.weight - left.weight || left.index - right.index);
}

/** Results are weighed before every call of the model, and stay the same for most of them. */
const known = new WeakMap<ResultEntry, number>();

function tokensOfResult(entry: ResultEntry): number {
  const tokens = known.get(entry) ?? tokensOf(entry.output.replace(NOTE, ''));
  known.set(entry, tokens);
  return tokens;
}
