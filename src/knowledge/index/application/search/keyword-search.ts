import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../../platform/clock/index.js';
import { Database } from '../../../../platform/database/index.js';
import { stemsOf, writesCompounds } from '../../../../platform/text/index.js';
import { typingErrors } from '../../domain/keyword-distance.js';
import { BLOCK_SIZE } from '../../domain/postings.js';
import { COMPUTE_SLICE_MS } from '../../limits.js';
import { findPlaces, readPlacedChunks } from '../../persistence/placed-chunks.sql.js';
import {
  type Block,
  readBlocks,
  readCompletions,
  readCompounds,
  readPostingRows,
} from '../../persistence/postings.sql.js';
import { KeywordRanking, type RankedTerm } from './keyword-ranking.js';
import { type Alternative, isSingleLetter, type QueryWord, queryWords } from './query-words.js';
import type { SearchScope } from './search-scope.js';

const WEIGHT = { compound: 0.7, half: 0.6, completion: 0.5, misspelling: 0.75 } as const;
/** Other terms that are searched for one word of the query. */
const MAX_ALTERNATIVES = 48;
/** Only terms that share these first letters are compared with a word. */
const BEGINNING = 3;
const MIN_HALF = 4;
const MAX_COMPOUND = 32;
/** Words without postings for which other terms are searched. */
const MAX_MISSING = 8;
const MIN_MISSPELLED = 4;
/** Letters between the halves of a compound. */
const LINKS = ['', 's', 'es', 'n', 'en', 'e', 'er'];

/** Finds chunks by words of any language. The order is the same on every database, because nothing depends on its locale or dictionaries. */
@Injectable()
export class KeywordSearch {
  constructor(private readonly database: Database) {}

  async prepare(scope: SearchScope, query: string): Promise<KeywordQuery> {
    const blocks = await readBlocks(this.database, scope);
    const languages = [...new Set(blocks.flatMap((block) => block.languages))].sort();
    const words = blocks.length === 0 ? [] : queryWords(query, languages);
    const slice = new TimeSlice(COMPUTE_SLICE_MS);
    const terms = await this.findTerms(blocks, words, languages, slice);
    const ranked = terms.filter(({ length }, index) => length > 0 || words[index]?.isWholeName !== true);
    return new KeywordQuery(this.database, scope, blocks, await KeywordRanking.create(blocks, ranked, slice), slice);
  }

  /** Finds the postings of each word. For a word without postings, the terms that it begins or misspells and its halves are searched. */
  private async findTerms(
    blocks: readonly Block[],
    words: readonly QueryWord[],
    languages: readonly string[],
    slice: TimeSlice,
  ): Promise<RankedTerm[][]> {
    if (words.length === 0) return [];
    const longer = await this.findCompoundsAndPairs(blocks, words, languages);
    const found = await this.readTerms(
      blocks,
      words.map(({ alternatives }, index) => [...alternatives, ...(longer[index] ?? [])]),
    );
    const missing = words
      .flatMap((word, index) => (found[index]?.length === 0 && !word.isWholeName ? [{ word, index }] : []))
      .slice(0, MAX_MISSING);
    if (missing.length === 0) return found;
    const similar = await this.findSimilar(
      blocks,
      missing.map(({ word }) => word),
      slice,
    );
    const second = await this.readTerms(
      blocks,
      missing.map(({ word }, at) => [...(similar[at] ?? []), ...halvesOf(word)]),
    );
    for (const [at, { index }] of missing.entries()) found[index] = second[at] ?? [];
    return found;
  }

  /** Finds compounds that end with a word, and pairs of letters that begin with a word of one letter. */
  private async findCompoundsAndPairs(
    blocks: readonly Block[],
    words: readonly QueryWord[],
    languages: readonly string[],
  ): Promise<Alternative[][]> {
    const isHead = ({ term }: Alternative): boolean => term.length >= MIN_HALF && /^\p{L}+$/u.test(term);
    const headsOf = ({ isUnspaced, alternatives }: QueryWord): string[] =>
      isUnspaced ? [] : alternatives.filter(isHead).map(({ term }) => term);
    const heads = languages.some(writesCompounds) ? words.flatMap(headsOf) : [];
    const compounds = await readCompounds(this.database, blocks, heads);
    const letters = words.filter(({ isUnspaced, text }) => isUnspaced && isSingleLetter(text)).map(({ text }) => text);
    const pairs = await readCompletions(this.database, blocks, letters);
    return words.map((word) => {
      if (word.isUnspaced) {
        const terms = pairs.filter(({ beginning }) => beginning === word.text).map(({ term }) => term);
        return toAlternatives(terms, 1, word);
      }
      const own = headsOf(word);
      const terms = compounds.filter(({ head }) => own.includes(head)).map(({ term }) => term);
      return toAlternatives(
        terms.flatMap((term) => [term, ...stemsOf(term, languages)]),
        WEIGHT.compound,
        word,
      );
    });
  }

  /** Finds terms that begin with a word, and terms that a word misspells. */
  private async findSimilar(
    blocks: readonly Block[],
    words: readonly QueryWord[],
    slice: TimeSlice,
  ): Promise<Alternative[][]> {
    const beginningOf = ({ isUnspaced, text }: QueryWord): string =>
      isUnspaced || text.length < BEGINNING || /\p{N}/u.test(text) ? '' : text.slice(0, BEGINNING);
    const beginnings = new Set(words.map(beginningOf).filter((beginning) => beginning !== ''));
    const found = await readCompletions(this.database, blocks, [...beginnings]);
    const similar: Alternative[][] = [];
    for (const word of words) {
      const [completions, corrections]: [string[], string[]] = [[], []];
      for (const { beginning, term } of found) {
        if (beginning !== beginningOf(word)) continue;
        if (term.startsWith(word.text)) completions.push(term);
        else if (isMisspelled(word, term)) corrections.push(term);
        await slice.rest();
      }
      similar.push([
        ...toAlternatives(completions, WEIGHT.completion, word),
        ...toAlternatives(corrections, WEIGHT.misspelling, word),
      ]);
    }
    return similar;
  }

  private async readTerms(
    blocks: readonly Block[],
    words: readonly (readonly Alternative[])[],
  ): Promise<RankedTerm[][]> {
    const terms = [...new Set(words.flat().map(({ term }) => term))];
    const rows = Map.groupBy(await readPostingRows(this.database, blocks, terms), ({ term }) => term);
    return words.map((word) =>
      word.flatMap(({ term, weight }) => {
        const own = rows.get(term);
        return own ? [{ weight, rows: own }] : [];
      }),
    );
  }
}

/** A query whose words were looked up in all chunks that the run may see. Only those chunks influence a score. */
export class KeywordQuery {
  constructor(
    private readonly database: Database,
    private readonly scope: SearchScope,
    private readonly blocks: readonly Block[],
    private readonly ranking: KeywordRanking,
    private readonly slice: TimeSlice,
  ) {}

  /** Whether any chunk that the run may see has a word of the query. */
  get hasMatches(): boolean {
    return this.ranking.hasMatches;
  }

  /** The best chunks, best first, with scores above 0, at most 1. Equal scores are in the order of the documents' kinds and keys. */
  async top(limit: number): Promise<readonly { readonly chunkId: string; readonly score: number }[]> {
    const best = await this.ranking.best(limit, this.slice);
    const places = best.map(({ place }) => {
      const { partition = 0, block = 0 } = this.blocks[Math.floor(place / BLOCK_SIZE)] ?? {};
      return { partition, number: block * BLOCK_SIZE + (place % BLOCK_SIZE) };
    });
    const rows = await readPlacedChunks(this.database, this.scope, places);
    return (
      rows
        .map(({ chunkId, at }) => ({ chunkId, score: best[at]?.score ?? 0 }))
        // The rows are in the order of their documents, which equal scores keep.
        .sort((left, right) => right.score - left.score)
        .slice(0, limit)
    );
  }

  /** The scores of these chunks, as `top` returns them, without those that have no word of the query. */
  async scoresOf(chunkIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (!this.hasMatches) return new Map();
    const keyOf = (partition: number, block: number): string => `${partition} ${block}`;
    const firstOf = new Map(this.blocks.map(({ partition, block }, at) => [keyOf(partition, block), at * BLOCK_SIZE]));
    const places = await findPlaces(this.database, this.scope.organizationId, chunkIds);
    const scores = places.flatMap(({ chunkId, partition, number }): [string, number][] => {
      const first = firstOf.get(keyOf(partition, Math.floor(number / BLOCK_SIZE)));
      return first === undefined ? [] : [[chunkId, this.ranking.scoreAt(first + (number % BLOCK_SIZE))]];
    });
    return new Map(scores.filter(([, score]) => score > 0));
  }
}

function isMisspelled({ alternatives }: QueryWord, term: string): boolean {
  return alternatives.some(({ term: own }) => {
    const max = own.length >= 8 ? 2 : 1;
    return own.length >= MIN_MISSPELLED && !/\p{N}/u.test(term) && typingErrors(own, term, max) <= max;
  });
}

/** The shortest of the terms that are not alternatives of the word already. */
function toAlternatives(terms: readonly string[], weight: number, { alternatives }: QueryWord): Alternative[] {
  const others = [...new Set(terms)].filter((term) => !alternatives.some((own) => own.term === term));
  return others
    .sort((left, right) => left.length - right.length || (left < right ? -1 : 1))
    .slice(0, MAX_ALTERNATIVES)
    .map((term) => ({ term, weight }));
}

/** The halves of all ways to split a word into a compound of two. */
function halvesOf({ alternatives, isUnspaced }: QueryWord): Alternative[] {
  const halves = new Set<string>();
  for (const { term } of isUnspaced ? [] : alternatives) {
    if (term.length > MAX_COMPOUND) continue;
    for (let end = MIN_HALF; end <= term.length - MIN_HALF; end += 1) {
      halves.add(term.slice(0, end));
      for (const link of LINKS)
        if (term.startsWith(link, end) && term.length - end - link.length >= MIN_HALF)
          halves.add(term.slice(end + link.length));
    }
  }
  return Array.from(halves, (term) => ({ term, weight: WEIGHT.half }));
}
