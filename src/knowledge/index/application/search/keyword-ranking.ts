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

/** The postings of one alternative of a word. */
export interface RankedTerm {
  readonly weight: number;
  /** `at` is the index of a row's block among the ranked blocks. */
  readonly rows: readonly { readonly at: number; readonly postings: Uint8Array }[];
}

interface RankedBlock {
  readonly lengths: Uint8Array;
}

/** The share of its weight that a word without matches keeps: a question often has more words than any answer. */
const UNKNOWN_WORD = 0.25;
/** Chunks beyond the limit that are returned because their score equals the last one's. */
const MAX_EQUAL = 1_000;

/** A word of the query that some chunk has. */
interface KnownWord {
  readonly information: number;
  readonly terms: readonly PlacedTerm[];
}

interface PlacedTerm {
  /** By block. */
  readonly postings: ReadonlyMap<number, Uint8Array>;
  /** Where each chunk's positions begin in its block's postings. One array, because collecting many small ones takes most of the time. */
  readonly offsets: Uint16Array;
}

export interface RankedChunk {
  /** Counted over all blocks, `BLOCK_SIZE` per block. */
  readonly place: number;
  readonly score: number;
}

/**
 * BM25 with nearness over all chunks that a run may see. Occurrences are summed for every chunk. Nearness is computed only for chunks that
 * it can bring among the best, which does not change the result.
 */
export class KeywordRanking {
  private readonly lengths: Uint16Array;
  private readonly chunks: number;
  private readonly averageLength: number;
  private readonly sums: Float64Array;
  /** The most that the nearness of its words can add to each chunk. */
  private readonly nearBounds: Float64Array;
  private readonly words: KnownWord[] = [];
  /** The sums of the words' information: of all words, of those with a match, and of neighbouring words with a match. */
  private information = 0;
  private knownInformation = 0;
  private nearInformation = 0;

  private constructor(
    blocks: readonly RankedBlock[],
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

  /** @param words of the query, in its order, each with its alternatives */
  static async create(
    blocks: readonly RankedBlock[],
    words: readonly (readonly RankedTerm[])[],
    slice: TimeSlice,
  ): Promise<KeywordRanking> {
    const ranking = new KeywordRanking(blocks, words.length);
    let before: { readonly word: KnownWord; readonly frequencies: Float32Array } | undefined;
    for (const terms of words) {
      const frequencies = new Float32Array(ranking.lengths.length);
      const word = await ranking.add(terms, frequencies, slice);
      if (!word) continue;
      if (before)
        ranking.addNearBounds(Math.min(before.word.information, word.information), before.frequencies, frequencies);
      before = { word, frequencies };
    }
    return ranking;
  }

  /** Whether any chunk has a word of the query. */
  get hasMatches(): boolean {
    return this.words.length > 0;
  }

  /** @param frequencies receives how often each chunk has the word. @returns undefined if no chunk has it */
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

  /** @param information that the nearness of two words gives, which chunks have as often as `left` and `right` state */
  private addNearBounds(information: number, left: Float32Array, right: Float32Array): void {
    this.nearInformation += information;
    for (let place = 0; place < right.length; place += 1) {
      if ((right[place] ?? 0) > 0 && (left[place] ?? 0) > 0)
        this.nearBounds[place] = (this.nearBounds[place] ?? 0) + information;
    }
  }

  /** The `limit` best chunks that have a word, and those whose score equals the last one's. */
  async best(limit: number, slice: TimeSlice): Promise<RankedChunk[]> {
    const sums = new Greatest(limit);
    for (const sum of this.sums) sums.add(sum);
    const least = this.relevance(sums.least, 0);
    const candidates: { readonly place: number; readonly bound: number }[] = [];
    for (let place = 0; place < this.sums.length; place += 1) {
      const bound = this.relevance(this.sums[place] ?? 0, this.nearBounds[place] ?? 0);
      if (bound > 0 && bound >= least) candidates.push({ place, bound });
    }
    candidates.sort((left, right) => right.bound - left.bound);
    await slice.rest();
    const found: RankedChunk[] = [];
    const scores = new Greatest(limit);
    for (const { place, bound } of candidates) {
      if (scoreOfRelevance(bound) < scores.least) break;
      const score = this.scoreAt(place);
      scores.add(score);
      found.push({ place, score });
      await slice.rest();
    }
    return found
      .filter(({ score }) => score >= scores.least)
      .sort((left, right) => right.score - left.score)
      .slice(0, limit + MAX_EQUAL);
  }

  /** 0 if the chunk has no word of the query. */
  scoreAt(place: number): number {
    return scoreOfRelevance(this.relevance(this.sums[place] ?? 0, this.nearnessAt(place)));
  }

  private relevance(sum: number, near: number): number {
    if (sum === 0) return 0;
    // A query of one word is as near as it can be.
    const nearness = this.nearInformation > 0 ? near / this.nearInformation : this.queryWords === 1 ? 1 : 0;
    return sum / this.information + NEARNESS_SHARE * nearness * (this.knownInformation / this.information);
  }

  /** The closeness of words that are neighbours in the query. */
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

/** The `count` greatest of the numbers above 0 that were added. */
class Greatest {
  private readonly numbers: number[] = [];

  constructor(private readonly count: number) {}

  /** The least of them; 0 while there are fewer than `count`. */
  get least(): number {
    return this.numbers.length < this.count ? 0 : (this.numbers[0] ?? 0);
  }

  add(number: number): void {
    if (number <= this.least) return;
    if (this.numbers.length >= this.count) this.numbers.shift();
    let at = this.numbers.length;
    while (at > 0 && (this.numbers[at - 1] ?? 0) > number) at -= 1;
    this.numbers.splice(at, 0, number);
  }
}
