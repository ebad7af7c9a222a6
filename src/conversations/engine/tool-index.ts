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

/** What a word is worth by where it stands, and what a word is worth of which only the beginning is the same. */
const NAME = 3;
const ELSEWHERE = 1;
const PREFIX = 0.5;

/** From this length on a word matches others that it begins, or that begin with it. */
const MIN_PREFIX_LENGTH = 3;

/** BM25's saturation (`k1`) and normalization by length (`b`). */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;

/** For each word the tools, by their place, in which it stands, and its weight there. */
type Weights = Map<number, number>;

/** Tools by the words of their names, descriptions and parameters, ranked as BM25 does. */
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

  /** Of all tools together. */
  get words(): number {
    return this.lengths.reduce((sum, length) => sum + length, 0);
  }

  /** Whether it is of these very definitions, in this order. */
  isOf(tools: readonly ToolDefinition[]): boolean {
    return tools.length === this.tools.length && tools.every((tool, place) => tool === this.tools[place]);
  }

  /** The best matches first; none where no word matches. */
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
      const likeness = likenessOf(word, asked);
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

/** By their first tools: what sources offer is the same run after run, and everything else waits while an index is made. */
const indexes = new LRUCache<ToolDefinition, ToolIndex>({
  maxSize: MAX_INDEXED_WORDS,
  sizeCalculation: ({ words }) => words + 1,
});

/** The index of these tools, which is kept for later runs with the same definitions. */
export function indexOf(tools: readonly ToolDefinition[]): ToolIndex {
  const [first] = tools;
  const known = first && indexes.get(first);
  if (known?.isOf(tools) === true) return known;
  const index = new ToolIndex(tools);
  if (first) indexes.set(first, index);
  return index;
}

function likenessOf(word: string, asked: string): number {
  if (word === asked) return 1;
  if (Math.min(word.length, asked.length) < MIN_PREFIX_LENGTH) return 0;
  return word.startsWith(asked) || asked.startsWith(word) ? PREFIX : 0;
}

/** Without case and accents, `createIssue` and `create_issue` as two words. Scripts that put no spaces between words are taken in pairs of letters. */
export function wordsOf(text: string): string[] {
  const parted = text.replace(/(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|[-./_]/gu, ' ');
  return Array.from(tokensOf(fold(parted)), ({ form }) => form);
}
