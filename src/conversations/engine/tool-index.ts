import { LRUCache } from 'lru-cache';
import type { ToolDefinition } from '../../models/index.js';
import { fold, tokensOf } from '../../platform/text/index.js';
import {
  MAX_INDEXED_WORDS,
  MAX_QUERY_LENGTH,
  MAX_QUERY_WORDS,
  MAX_SEARCHED_DESCRIPTION,
  MAX_SEARCHED_DESCRIPTIONS,
  MAX_SEARCHED_PARAMETERS,
} from './limits.js';

/** The weight of a word in a tool's name, and elsewhere. */
const NAME = 3;
const ELSEWHERE = 1;
/** The factor for a match of only the beginning of a word. */
const PREFIX = 0.5;

/** Shorter words match only as a whole. */
const MIN_PREFIX_LENGTH = 3;

/** BM25's saturation (`k1`) and normalization by length (`b`). */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;

/** The weight of a word in each tool, by the tool's position. */
type Weights = Map<number, number>;

/** Finds tools by the words of their names, descriptions and parameters, ranked by BM25. */
export class ToolIndex {
  private readonly weightsOf = new Map<string, Weights>();
  private readonly lengths: number[] = [];
  private readonly averageLength: number;

  constructor(private readonly tools: readonly ToolDefinition[]) {
    const room = Math.min(MAX_SEARCHED_DESCRIPTION, MAX_SEARCHED_DESCRIPTIONS / tools.length);
    for (const [place, { name, description, inputSchema }] of tools.entries()) {
      const inName = wordsOf(name);
      const parameters = Object.keys(inputSchema['properties'] ?? {}).slice(0, MAX_SEARCHED_PARAMETERS);
      const elsewhere = wordsOf([description.slice(0, room), ...parameters].join(' '));
      for (const word of inName) this.add(word, place, NAME);
      for (const word of elsewhere) this.add(word, place, ELSEWHERE);
      this.lengths.push(inName.length + elsewhere.length);
    }
    this.averageLength = this.words / Math.max(1, tools.length);
  }

  get words(): number {
    return this.lengths.reduce((sum, length) => sum + length, 0);
  }

  /** Whether the index is of these same definition objects, in this order. */
  isOf(tools: readonly ToolDefinition[]): boolean {
    return tools.length === this.tools.length && tools.every((tool, place) => tool === this.tools[place]);
  }

  search(query: string, limit: number): ToolDefinition[] {
    const scores = new Map<number, number>();
    for (const word of new Set(wordsOf(query.slice(0, MAX_QUERY_LENGTH)).slice(0, MAX_QUERY_WORDS))) {
      const matches = this.matchesOf(word);
      const rarity = Math.log(1 + (this.tools.length - matches.size + 0.5) / (matches.size + 0.5));
      for (const [place, weight] of matches) {
        scores.set(place, (scores.get(place) ?? 0) + rarity * this.saturated(weight, place));
      }
    }
    const best = [...scores].sort(([left, a], [right, b]) => b - a || left - right).slice(0, limit);
    return best.flatMap(([place]) => this.tools[place] ?? []);
  }

  private matchesOf(asked: string): Weights {
    const matches: Weights = new Map();
    for (const [word, weights] of this.weightsOf) {
      const likeness = similarity(word, asked);
      if (likeness === 0) continue;
      for (const [place, weight] of weights) matches.set(place, (matches.get(place) ?? 0) + likeness * weight);
    }
    return matches;
  }

  private saturated(weight: number, place: number): number {
    const length = (this.lengths[place] ?? 0) / this.averageLength;
    return (weight * (SATURATION + 1)) / (weight + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length));
  }

  private add(word: string, place: number, weight: number): void {
    const weights = this.weightsOf.get(word) ?? new Map<number, number>();
    this.weightsOf.set(word, weights);
    weights.set(place, (weights.get(place) ?? 0) + weight);
  }
}

/**
 * A cache by the first tool: sources offer the same definitions run after run, and everything else waits while an index
 * is built.
 */
const indexes = new LRUCache<ToolDefinition, ToolIndex>({
  maxSize: MAX_INDEXED_WORDS,
  sizeCalculation: ({ words }) => words + 1,
});

export function toolIndex(tools: readonly ToolDefinition[]): ToolIndex {
  const [first] = tools;
  const cached = first && indexes.get(first);
  if (cached?.isOf(tools) === true) return cached;
  const index = new ToolIndex(tools);
  if (first) indexes.set(first, index);
  return index;
}

function similarity(word: string, asked: string): number {
  if (word === asked) return 1;
  if (Math.min(word.length, asked.length) < MIN_PREFIX_LENGTH) return 0;
  return word.startsWith(asked) || asked.startsWith(word) ? PREFIX : 0;
}

/**
 * Lower-case words without accents; `createIssue` and `create_issue` are two words. Scripts without spaces are split
 * into pairs of letters.
 */
export function wordsOf(text: string): string[] {
  const split = text.replace(/(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|[-./_]/gu, ' ');
  return Array.from(tokensOf(fold(split)), ({ form }) => form);
}
