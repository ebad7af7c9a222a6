import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../../platform/clock/index.js';
import { Database } from '../../../../platform/database/index.js';
import { stemsOf, writesCompounds } from '../../../../platform/text/index.js';
import { BLOCK_SIZE } from '../../domain/postings.js';
import { typingErrors } from '../../domain/keyword-distance.js';
import { COMPUTE_SLICE_MS } from '../../limits.js';
import { findPlaces, readPlacedChunks } from '../../persistence/placed-chunks.sql.js';
import {
  type Block,
  readBlocks,
  readCompletions,
  readCompounds,
  readPostingRows,
} from '../../persistence/postings.sql.js';
import { KeywordRanking, type RankedChunk, type RankedRow, type RankedTerm } from './keyword-ranking.js';
import { type Alternative, type QueryWord, queryWords } from './query-words.js';
import type { SearchScope } from './search-scope.js';

const WEIGHT = { head: 0.7, half: 0.6, completed: 0.5, mistyped: 0.75 } as const;
/** Other words that are taken for one of the query. */
const MAX_COMPLETIONS = 48;
/** Letters by which others are looked for that a word begins, or is a misspelling of. */
const BEGINNING = 3;
const MIN_HALF = 4;
const MAX_COMPOUND = 32;
/** Words that no text has and that are looked for in other ways. */
const MAX_MISSING = 8;
const MIN_MISTYPED = 4;
/** Letters between the halves of a compound. */
const LINKS = ['', 's', 'es', 'n', 'en', 'e', 'er'];

export interface KeywordMatch {
  readonly chunkId: string;
  /** Above 0, at most 1. */
  readonly score: number;
}

/** A query that has been looked up in everything that the run may see. Nothing else influences a score. */
export interface KeywordQuery {
  /** Whether any word of the query stands in anything that the run may see. */
  readonly says: boolean;
  /** The best chunks, best first; equal scores in the order of the documents' kinds and keys, and of the chunks in a document. */
  top(limit: number): Promise<readonly KeywordMatch[]>;
  /** What `top` would say of these chunks; those that have no word of the query are left out. */
  scoresOf(chunkIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** Finds words of any language in what `DocumentIndex` stores. The same order on every database: nothing depends on its locale or dictionaries. */
@Injectable()
export class KeywordSearch {
  constructor(private readonly database: Database) {}

  async prepare(scope: SearchScope, query: string): Promise<KeywordQuery> {
    const blocks = await readBlocks(this.database, scope, scope.userContext);
    const languages = [...new Set(blocks.flatMap((block) => block.languages))].sort();
    const words = blocks.length === 0 ? [] : queryWords(query, languages);
    if (words.length === 0) return NOTHING;
    const slice = new TimeSlice(COMPUTE_SLICE_MS);
    const terms = await this.termsOf(blocks, words, languages, slice);
    const known = terms.filter((one, index) => one.length > 0 || words[index]?.isWhole !== true);
    const ranking = await KeywordRanking.of(blocks, known, slice);
    return {
      says: ranking.says,
      top: async (limit) => this.matches(scope, blocks, await ranking.best(limit, slice), limit),
      scoresOf: async (chunkIds) => this.scores(scope, blocks, ranking, chunkIds),
    };
  }

  /** What stands for each word; a word that no text has is looked for as the beginning of others, and as a compound. */
  private async termsOf(
    blocks: readonly Block[],
    words: readonly QueryWord[],
    languages: readonly string[],
    slice: TimeSlice,
  ): Promise<RankedTerm[][]> {
    const headed = await this.headedBy(blocks, words, languages);
    const found = await this.read(
      blocks,
      words.map((word, index) => [...word.alternatives, ...(headed[index] ?? [])]),
    );
    const missing = words
      .flatMap((word, index) => (found[index]?.length === 0 && !word.isWhole ? [{ word, index }] : []))
      .slice(0, MAX_MISSING);
    if (missing.length === 0) return found;
    const completed = await this.completed(
      blocks,
      missing.map(({ word }) => word),
      slice,
    );
    const second = await this.read(
      blocks,
      missing.map(({ word }, place) => [...(completed[place] ?? []), ...halvesOf(word)]),
    );
    for (const [place, { index }] of missing.entries()) found[index] = second[place] ?? [];
    return found;
  }

  /** Compounds that end with a word, and pairs that begin with a letter. */
  private async headedBy(
    blocks: readonly Block[],
    words: readonly QueryWord[],
    languages: readonly string[],
  ): Promise<Alternative[][]> {
    const isHead = ({ term }: Alternative): boolean => term.length >= MIN_HALF && /^\p{L}+$/u.test(term);
    const headsOf = ({ unspaced, alternatives }: QueryWord): string[] =>
      unspaced ? [] : alternatives.filter(isHead).map(({ term }) => term);
    const heads = languages.some(writesCompounds) ? words.flatMap(headsOf) : [];
    const compounds = await readCompounds(this.database, blocks, heads);
    const letters = words.filter(({ unspaced, text }) => unspaced && isLetter(text)).map(({ text }) => text);
    const pairs = await readCompletions(this.database, blocks, letters);
    return words.map((word) => {
      const own = headsOf(word);
      return [
        ...alternatives(
          compounds.filter(({ head }) => own.includes(head)).flatMap(({ term }) => [term, ...stemsOf(term, languages)]),
          WEIGHT.head,
          word,
        ),
        ...alternatives(
          word.unspaced ? pairs.filter(({ beginning }) => beginning === word.text).map(({ term }) => term) : [],
          1,
          word,
        ),
      ];
    });
  }

  private async completed(
    blocks: readonly Block[],
    words: readonly QueryWord[],
    slice: TimeSlice,
  ): Promise<Alternative[][]> {
    const beginningOf = ({ unspaced, text }: QueryWord): string =>
      unspaced || text.length < BEGINNING || /\p{N}/u.test(text) ? '' : text.slice(0, BEGINNING);
    const beginnings = new Set(words.map(beginningOf).filter((beginning) => beginning !== ''));
    const found = await readCompletions(this.database, blocks, [...beginnings]);
    const each: Alternative[][] = [];
    for (const word of words) {
      const [completed, mistyped]: [string[], string[]] = [[], []];
      for (const { beginning, term } of found) {
        if (beginning !== beginningOf(word)) continue;
        if (term.startsWith(word.text)) completed.push(term);
        else if (isMistyped(word, term)) mistyped.push(term);
        await slice.rest();
      }
      each.push([...alternatives(completed, WEIGHT.completed, word), ...alternatives(mistyped, WEIGHT.mistyped, word)]);
    }
    return each;
  }

  private async read(blocks: readonly Block[], words: readonly (readonly Alternative[])[]): Promise<RankedTerm[][]> {
    const rows = new Map<string, RankedRow[]>();
    for (const { term, ...row } of await readPostingRows(this.database, blocks, [
      ...new Set(words.flat().map(({ term }) => term)),
    ])) {
      const known = rows.get(term);
      if (known) known.push(row);
      else rows.set(term, [row]);
    }
    return words.map((word) =>
      word.flatMap(({ term, weight }) => (rows.has(term) ? [{ weight, rows: rows.get(term) ?? [] }] : [])),
    );
  }

  private async matches(
    scope: SearchScope,
    blocks: readonly Block[],
    best: readonly RankedChunk[],
    limit: number,
  ): Promise<readonly KeywordMatch[]> {
    const placeOf = ({ place }: RankedChunk) => {
      const { partition = 0, block = 0 } = blocks[Math.floor(place / BLOCK_SIZE)] ?? {};
      return { partition, number: block * BLOCK_SIZE + (place % BLOCK_SIZE) };
    };
    const rows = await readPlacedChunks(this.database, scope, best.map(placeOf));
    return (
      rows
        .map(({ chunkId, at }) => ({ chunkId, score: best[at]?.score ?? 0 }))
        // The rows are in the order of their documents, which is that of equal scores.
        .sort((left, right) => right.score - left.score)
        .slice(0, limit)
    );
  }

  private async scores(
    { organizationId }: SearchScope,
    blocks: readonly Block[],
    ranking: KeywordRanking,
    chunkIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const firstOf = new Map(blocks.map(({ partition, block }, at) => [`${partition} ${block}`, at * BLOCK_SIZE]));
    const places = await findPlaces(this.database, organizationId, chunkIds);
    const scored = places.flatMap(({ chunkId, partition, number }): [string, number][] => {
      const first = firstOf.get(`${partition} ${Math.floor(number / BLOCK_SIZE)}`);
      return first === undefined ? [] : [[chunkId, ranking.scoreAt(first + (number % BLOCK_SIZE))]];
    });
    return new Map(scored.filter(([, score]) => score > 0));
  }
}

const NOTHING: KeywordQuery = {
  says: false,
  top: () => Promise.resolve([]),
  scoresOf: () => Promise.resolve(new Map()),
};

function isLetter(text: string): boolean {
  return /^\P{M}\p{M}*$/u.test(text);
}

function isMistyped({ alternatives: own }: QueryWord, term: string): boolean {
  return own.some((one) => {
    const errors = one.term.length >= 8 ? 2 : 1;
    return one.term.length >= MIN_MISTYPED && !/\p{N}/u.test(term) && typingErrors(one.term, term, errors) <= errors;
  });
}

/** The shortest of some terms, as what may stand for a word. */
function alternatives(terms: readonly string[], weight: number, { alternatives: own }: QueryWord): Alternative[] {
  const others = [...new Set(terms)].filter((term) => !own.some((one) => one.term === term));
  return others
    .sort((left, right) => left.length - right.length || (left < right ? -1 : 1))
    .slice(0, MAX_COMPLETIONS)
    .map((term) => ({ term, weight }));
}

/** All ways to take a word for a compound of two. */
function halvesOf({ alternatives: own, unspaced }: QueryWord): Alternative[] {
  const halves = new Set<string>();
  for (const { term } of unspaced ? [] : own) {
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
