import { LEXEME, PART_LEVELS, partLexeme } from '../../persistence/vocabulary.js';
import type { Alternative } from './keyword-alternatives.js';

/** A word of the query as the index is asked for it. */
export interface Condition {
  /** A `tsquery`. */
  readonly any: string;
  /** About as many chunks have it. */
  readonly chunks: number;
  readonly information: number;
  /** The same in titles and headings. */
  readonly named: string;
}

/** Chunks that a search looks at: the text of the best of them is read. */
const MAX_CANDIDATES = 400;
/** Where the estimates were far too low, a part of at most so many is looked at. */
export const MOST_FOUND = 2_000;
/** Words that each have more chunks are taken together. */
const MAX_COMBINED = 5;
/** Words that have to do with each other share more chunks than chance would have it. */
const CORRELATION = 3;
/** About one chunk in how many that has a word has it in its headings. */
const NAMED_ONE_IN = 20;

/** What the index is asked for a word. Words are letters, digits and `-_./`, so that nothing has to be escaped. */
export function conditionOf(vocabulary: number, alternatives: readonly Alternative[], kind: (typeof LEXEME)['word' | 'named'] = LEXEME.word): string {
  return alternatives.map(({ lexemes }) => and(lexemes.map((lexeme) => `'${vocabulary}${kind}${lexeme}'`))).join(' | ');
}

/**
 * A condition that about four hundred chunks meet, those among them that can be the best: rare words are enough alone, and of
 * common ones a chunk has to have several. It depends on nothing but what is indexed, and so do the results.
 */
export function candidatesOf(vocabulary: number, allChunks: number, conditions: readonly Condition[]): string {
  // Two words may be taken for the same one; together they would seem to be rarer than it is.
  const unlike = [...new Map(conditions.map((condition) => [condition.any, condition])).values()];
  const inOrder = unlike.sort((left, right) => left.chunks - right.chunks || (left.any < right.any ? -1 : 1));
  const chosen: string[] = [];
  const common: Condition[] = [];
  let room = MAX_CANDIDATES;
  for (const condition of inOrder) {
    if (condition.chunks > room) common.push(condition);
    else {
      chosen.push(condition.any);
      room -= condition.chunks;
    }
  }
  if (common.length > 0) chosen.push(...combined(vocabulary, allChunks, common.slice(0, MAX_COMBINED), room));
  return or(chosen);
}

function combined(vocabulary: number, allChunks: number, common: readonly Condition[], given: number): string[] {
  const chosen: string[] = [];
  let room = given;
  const taken: (readonly Condition[])[] = [];
  for (const set of subsets(common)) {
    if (taken.some((smaller) => smaller.every((condition) => set.includes(condition)))) continue;
    const estimate = estimateOf(set, allChunks);
    if (estimate > room) continue;
    taken.push(set);
    chosen.push(and(set.map(({ any }) => any)));
    room -= estimate;
  }
  const [rarest] = common;
  if (rarest && rarest.chunks / NAMED_ONE_IN <= Math.max(room, MAX_CANDIDATES / 4)) chosen.push(rarest.named);
  if (taken.length === 0) {
    // Nothing tells these chunks apart but how often they have the words: some of them, the same ones always.
    const level = Math.round(Math.log2(estimateOf(common, allChunks) / Math.max(room, MAX_CANDIDATES / 2)));
    chosen.push(partOf(vocabulary, and(common.map(({ any }) => any)), level));
  }
  return chosen;
}

/** About one in 2 to the power of `level` of the chunks that meet a condition: the same ones on every database. */
export function partOf(vocabulary: number, condition: string, level: number): string {
  return level < 1 ? condition : and([condition, `'${partLexeme(vocabulary, Math.min(level, PART_LEVELS))}'`]);
}

function estimateOf(set: readonly Condition[], allChunks: number): number {
  const least = Math.min(...set.map(({ chunks }) => chunks));
  if (set.length === 1) return least;
  const byChance = set.reduce((product, { chunks }) => (product * chunks) / allChunks, allChunks);
  return Math.min(least, byChance * CORRELATION);
}

/** The smaller ones first, and of one size those of the rarer words. */
function subsets(conditions: readonly Condition[]): (readonly Condition[])[] {
  const all = Array.from({ length: 2 ** conditions.length - 1 }, (_, bits) => conditions.filter((_one, index) => ((bits + 1) >> index) & 1));
  return all.sort((left, right) => left.length - right.length);
}

function and(conditions: readonly string[]): string {
  return conditions.length === 1 ? (conditions[0] ?? '') : `(${conditions.map((one) => `(${one})`).join(' & ')})`;
}

function or(conditions: readonly string[]): string {
  return conditions.map((one) => `(${one})`).join(' | ');
}
