import { fold, placesIn } from '../../../../platform/text/index.js';
import type { ChunkText } from './keyword-search.js';

/** One word of a query with what answers it. */
export interface QueryGroup {
  readonly alternatives: readonly { readonly lexemes: readonly string[]; readonly weight: number; readonly text: string | null }[];
  /** What the word tells of a chunk that has it: more, the fewer chunks do. */
  readonly information: number;
  /** In letters. */
  readonly length: number;
}

/** Words of the text itself are certain; what only the title or a heading says may be about its other chunks. */
const ONLY_NAMED = 0.75;
/** A word that comes once counts almost as much as one that comes often. */
const ONCE = 0.92;
const SHARES = { words: 0.88, near: 0.08, named: 0.04 } as const;
/** Letters between two words. */
const NEAR = [
  { within: 4, closeness: 1 },
  { within: 40, closeness: 0.6 },
  { within: 160, closeness: 0.25 },
];
const MAX_PLACES = 50;

interface Found {
  /** 0 to 1. */
  readonly weight: number;
  readonly isNamed: boolean;
  /** In the text, by the words that weigh most. */
  readonly places: readonly number[];
}

/** All that chunks are asked for by the words of a query. */
export function wantedBy(groups: readonly QueryGroup[]): ReadonlySet<string> {
  return new Set(groups.flatMap(({ alternatives }) => alternatives.flatMap(({ lexemes }) => lexemes)));
}

/** 0 to 1: how well a chunk answers the words of a query, of which `wanted` is what they want. */
export function scoreChunk(groups: readonly QueryGroup[], wanted: ReadonlySet<string>, { title, heading, text }: ChunkText): number {
  const all = groups.reduce((sum, { information }) => sum + information, 0);
  if (all === 0) return 0;
  const [inText, inNames] = [new IndexedText(text, wanted), new IndexedText(heading === null ? title : `${title}\n${heading}`, wanted)];
  const found = groups.map((group) => find(group, inText, inNames));
  const informationOf = (has: (one: Found) => number): number => groups.reduce((sum, { information }, index) => sum + information * has(found[index] ?? NOTHING), 0) / all;
  const words = informationOf(({ weight }) => weight);
  if (words === 0) return 0;
  const named = informationOf(({ isNamed, weight }) => (isNamed ? weight : 0));
  const score = SHARES.words * words + SHARES.near * words * nearness(groups, found) + SHARES.named * named;
  // Sums of fractions in another order differ in their last digits.
  return Math.round(score * 1e6) / 1e6;
}

const NOTHING: Found = { weight: 0, isNamed: false, places: [] };

/** A text of which some words can be asked for. */
class IndexedText {
  private readonly folded: string;
  private readonly places: ReadonlyMap<string, readonly number[]>;

  constructor(text: string, wanted: ReadonlySet<string>) {
    this.folded = fold(text);
    this.places = placesIn(this.folded, wanted, MAX_PLACES);
  }

  placesOf(lexemes: readonly string[], text: string | null): readonly number[] {
    const each = lexemes.map((lexeme) => this.places.get(lexeme) ?? []);
    if (each.some((places) => places.length === 0)) return [];
    return text !== null && lexemes.length > 1 ? this.occurrences(text) : (each[0] ?? []);
  }

  private occurrences(text: string): number[] {
    const places: number[] = [];
    for (let at = this.folded.indexOf(text); at >= 0 && places.length < MAX_PLACES; at = this.folded.indexOf(text, at + 1)) places.push(at);
    return places;
  }
}

function find({ alternatives }: QueryGroup, inText: IndexedText, inNames: IndexedText): Found {
  let [weight, isNamed] = [0, false];
  let times = 0;
  const places: number[] = [];
  for (const alternative of alternatives) {
    const here = inText.placesOf(alternative.lexemes, alternative.text);
    const named = inNames.placesOf(alternative.lexemes, alternative.text).length > 0;
    if (here.length > 0) {
      weight = Math.max(weight, alternative.weight);
      times += here.length * alternative.weight;
      if (places.length < MAX_PLACES) places.push(...here);
    } else if (named) weight = Math.max(weight, alternative.weight * ONLY_NAMED);
    isNamed ||= named;
  }
  const often = places.length === 0 ? 1 : 1 - (1 - ONCE) / Math.max(1, times);
  return { weight: weight * often, isNamed, places };
}

/** How close the words are that follow one another in the query, as a share of those that are there. */
function nearness(groups: readonly QueryGroup[], found: readonly Found[]): number {
  const present = groups.flatMap((group, index) => (found[index] && found[index].places.length > 0 ? [{ group, places: found[index].places }] : []));
  if (present.length < 2) return groups.length === 1 ? 1 : 0;
  let [sum, all] = [0, 0];
  for (const [index, { group, places }] of present.slice(1).entries()) {
    const before = present[index];
    if (!before) continue;
    const information = Math.min(group.information, before.group.information);
    all += information;
    sum += information * closeness(before.places, before.group.length, places, group.length);
  }
  return all === 0 ? 0 : sum / all;
}

function closeness(left: readonly number[], leftLength: number, right: readonly number[], rightLength: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const one of left) for (const other of right) least = Math.min(least, other > one ? other - one - leftLength : one - other - rightLength);
  return NEAR.find(({ within }) => least <= within)?.closeness ?? 0;
}
