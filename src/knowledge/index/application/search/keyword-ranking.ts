import type { TimeSlice } from '../../../../platform/clock/index.js';
import { BLOCK_SIZE, positionsAt, readPostings, visibleLength } from '../../domain/postings.js';
import {
  closeness,
  frequencyOf,
  informationOf,
  NEARNESS_SHARE,
  saturated,
  scoreOfRelevance,
} from '../../domain/ranking.js';

/** A term's row of the block that is the `at`th of those that are ranked. */
export interface RankedRow {
  readonly at: number;
  readonly postings: Uint8Array;
}

/** The rows of one alternative of a word. */
export interface RankedTerm {
  readonly weight: number;
  readonly rows: readonly RankedRow[];
}

/** What a word would tell that no text has, of what it would tell if one had it: a question often says more than any answer does. */
const UNKNOWN_WORD = 0.25;
/** Chunks of equal score beyond the last one that was asked for. */
const MAX_EQUAL = 1_000;

/** A word of the query that some chunk has. */
interface KnownWord {
  readonly information: number;
  readonly terms: readonly PlacedTerm[];
}

/** Where the positions of each chunk are. */
interface PlacedTerm {
  /** By block. */
  readonly postings: ReadonlyMap<number, Uint8Array>;
  /** Of each chunk in its block's postings: one array, since many small ones take longer to collect than all else. */
  readonly offsets: Uint16Array;
}

export interface RankedChunk {
  /** Counted over all blocks, `BLOCK_SIZE` a block. */
  readonly place: number;
  readonly score: number;
}

/**
 * BM25 with nearness over all chunks that a run may see. Occurrences are summed up for every chunk; nearness is compared only where
 * a chunk can be among the best with it, which changes no result.
 */
export class KeywordRanking {
  private readonly lengths: Uint16Array;
  private readonly chunks: number;
  private readonly averageLength: number;
  private readonly sums: Float64Array;
  /** What the nearness of the words that a chunk has can add at most. */
  private readonly nearBounds: Float64Array;
  private readonly words: KnownWord[] = [];
  /** Of all words of the query, and of those that some chunk has. */
  private information = 0;
  private knownInformation = 0;
  private nearInformation = 0;

  private constructor(
    blocks: readonly { readonly lengths: Uint8Array }[],
    private readonly queryWords: number,
  ) {
    const places = blocks.length * BLOCK_SIZE;
    this.lengths = new Uint16Array(places);
    for (const [at, { lengths }] of blocks.entries()) {
      for (let slot = 0; 2 * slot < lengths.length; slot += 1)
        this.lengths[at * BLOCK_SIZE + slot] = visibleLength(lengths, slot);
    }
    this.chunks = this.lengths.reduce((count, length) => (length > 0 ? count + 1 : count), 0);
    this.averageLength = this.lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, this.chunks);
    this.sums = new Float64Array(places);
    this.nearBounds = new Float64Array(places);
  }

  /**
   * @param blocks whose chunks are ranked
   * @param words of the query, in its order, each by what may stand for it
   */
  static async of(
    blocks: readonly { readonly lengths: Uint8Array }[],
    words: readonly (readonly RankedTerm[])[],
    slice: TimeSlice,
  ): Promise<KeywordRanking> {
    const ranking = new KeywordRanking(blocks, words.length);
    let before: { readonly word: KnownWord; readonly frequencies: Float32Array } | undefined;
    for (const terms of words) {
      const frequencies = new Float32Array(ranking.lengths.length);
      const word = await ranking.add(terms, frequencies, slice);
      if (!word) continue;
      if (before) ranking.bound(Math.min(before.word.information, word.information), before.frequencies, frequencies);
      before = { word, frequencies };
    }
    return ranking;
  }

  get says(): boolean {
    return this.words.length > 0;
  }

  private async add(
    terms: readonly RankedTerm[],
    frequencies: Float32Array,
    slice: TimeSlice,
  ): Promise<KnownWord | undefined> {
    let having = 0;
    const placed: PlacedTerm[] = [];
    for (const { weight, rows } of terms) {
      const offsets = new Uint16Array(this.lengths.length);
      placed.push({ postings: new Map(rows.map(({ at, postings }) => [at, postings])), offsets });
      for (const { at, postings } of rows) {
        const first = at * BLOCK_SIZE;
        readPostings(postings, (slot, count, isNamed, offset) => {
          const place = first + slot;
          if (this.lengths[place] === 0) return;
          const before = frequencies[place] ?? 0;
          if (before === 0) having += 1;
          frequencies[place] = before + weight * frequencyOf(count, isNamed);
          offsets[place] = offset;
        });
        await slice.rest();
      }
    }
    const information = informationOf(this.chunks, Math.max(1, having)) * (having > 0 ? 1 : UNKNOWN_WORD);
    this.information += information;
    if (having === 0) return undefined;
    for (let place = 0; place < frequencies.length; place += 1) {
      const frequency = frequencies[place] ?? 0;
      if (frequency > 0)
        this.sums[place] =
          (this.sums[place] ?? 0) + information * saturated(frequency, this.lengths[place] ?? 0, this.averageLength);
    }
    this.knownInformation += information;
    const word = { information, terms: placed };
    this.words.push(word);
    await slice.rest();
    return word;
  }

  /** @param information that the nearness of two words gives, whose frequencies in all chunks are `left` and `right` */
  private bound(information: number, left: Float32Array, right: Float32Array): void {
    this.nearInformation += information;
    for (let place = 0; place < right.length; place += 1) {
      if ((right[place] ?? 0) > 0 && (left[place] ?? 0) > 0)
        this.nearBounds[place] = (this.nearBounds[place] ?? 0) + information;
    }
  }

  /** At least the `limit` best, where as many have a word, and those that equal the last of them. */
  async best(limit: number, slice: TimeSlice): Promise<RankedChunk[]> {
    const worst = new LeastOf(limit);
    for (const sum of this.sums) worst.add(sum);
    const least = this.relevance(worst.least, 0);
    const candidates: { readonly place: number; readonly bound: number }[] = [];
    for (let place = 0; place < this.sums.length; place += 1) {
      const bound = this.relevance(this.sums[place] ?? 0, this.nearBounds[place] ?? 0);
      if (bound > 0 && bound >= least) candidates.push({ place, bound });
    }
    candidates.sort((left, right) => right.bound - left.bound);
    await slice.rest();
    const found: RankedChunk[] = [];
    const best = new LeastOf(limit);
    for (const { place, bound } of candidates) {
      if (scoreOfRelevance(bound) < best.least) break;
      const score = this.scoreAt(place);
      best.add(score);
      found.push({ place, score });
      await slice.rest();
    }
    return found
      .filter(({ score }) => score >= best.least)
      .sort((left, right) => right.score - left.score)
      .slice(0, limit + MAX_EQUAL);
  }

  /** 0 of a chunk that has no word of the query. */
  scoreAt(place: number): number {
    return scoreOfRelevance(this.relevance(this.sums[place] ?? 0, this.nearnessAt(place)));
  }

  private relevance(sum: number, near: number): number {
    if (sum === 0) return 0;
    // One word that is all of the query is near itself.
    const nearness = this.nearInformation > 0 ? near / this.nearInformation : this.queryWords === 1 ? 1 : 0;
    return sum / this.information + NEARNESS_SHARE * nearness * (this.knownInformation / this.information);
  }

  /** How close the words are that follow one another in the query. */
  private nearnessAt(place: number): number {
    if ((this.nearBounds[place] ?? 0) === 0) return 0;
    let near = 0;
    let before: { readonly information: number; readonly positions: readonly number[] } | undefined;
    for (const { information, terms } of this.words) {
      const positions = positionsOf(terms, place);
      if (before) near += Math.min(before.information, information) * closeness(before.positions, positions);
      before = { information, positions };
    }
    return near;
  }
}

function positionsOf(terms: readonly PlacedTerm[], place: number): readonly number[] {
  const each = terms.flatMap(({ postings, offsets }) => {
    const offset = offsets[place] ?? 0;
    const row = offset === 0 ? undefined : postings.get(Math.floor(place / BLOCK_SIZE));
    return row ? [positionsAt(row, offset)] : [];
  });
  return each.length === 1 ? (each[0] ?? []) : each.flat().sort((left, right) => left - right);
}

/** The least of the so many greatest numbers above 0 that were added. */
class LeastOf {
  private readonly greatest: number[] = [];

  constructor(private readonly count: number) {}

  /** 0 as long as there are too few. */
  get least(): number {
    return this.greatest.length < this.count ? 0 : (this.greatest[0] ?? 0);
  }

  add(number: number): void {
    if (number <= this.least) return;
    if (this.greatest.length >= this.count) this.greatest.shift();
    let at = this.greatest.length;
    while (at > 0 && (this.greatest[at - 1] ?? 0) > number) at -= 1;
    this.greatest.splice(at, 0, number);
  }
}
