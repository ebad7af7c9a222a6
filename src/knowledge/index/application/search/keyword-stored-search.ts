import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../../../../platform/clock/index.js';
import { Database } from '../../../../platform/database/index.js';
import { COMPUTE_SLICE_MS } from '../../limits.js';
import { SAMPLED_ONE_IN } from '../indexing/prepared-document.js';
import { LEXEME, PART_LEVELS } from '../../persistence/vocabulary.js';
import { VISIBLE_CHUNK } from '../../persistence/knowledge.schema.js';
import { type Alternative, STRONG, WordLookup } from './keyword-alternatives.js';
import { candidatesOf, type Condition, conditionOf, MOST_FOUND, partOf } from './keyword-candidates.js';
import { type QueryGroup, scoreChunk, wantedBy } from './keyword-score.js';
import { type ChunkText, type KeywordMatch, type KeywordQuery, KeywordSearch } from './keyword-search.js';
import { countChunks, type FoundTerm, readTerms, readVocabulary, type Term, type VocabularyFacts } from './keyword-terms.js';
import { type QueryWord, queryWords } from './keyword-words.js';
import type { SearchScope } from './search-scope.js';

/** Fewer sampled chunks say too little: then they are counted, which is quick where there are few. */
const MIN_SAMPLED = 16;
/** Of what the word would tell if one chunk had it: a question often says more than any answer does. */
const UNKNOWN_WORD = 0.25;
const FUNCTION_WORD = 0.1;
/** Chunks whose text is read, at least, and for each result. */
const READ = { least: 60, perResult: 2, most: 200 } as const;
/** Where too many chunks are found, of one in so many times more of them than before. */
const LEVELS_AT_A_TIME = 2;
/** Words by which the index ranks what is read. */
const MAX_RANKED_WORDS = 16;

interface Word {
  readonly word: QueryWord;
  readonly alternatives: readonly Alternative[];
  readonly sampled: number;
  readonly any: string;
}

type CountedWord = Word & { readonly chunks: number };

/** Keywords over what `DocumentIndex` stores. Nothing in it depends on the locale or the dictionaries of the database. */
@Injectable()
export class StoredKeywordSearch extends KeywordSearch {
  protected readonly mostFound: number = MOST_FOUND;

  constructor(private readonly database: Database) {
    super();
  }

  async prepare(scope: SearchScope, query: string): Promise<KeywordQuery> {
    const words = queryWords(query);
    const vocabulary = words.length === 0 ? null : await readVocabulary(this.database, scope);
    if (!vocabulary) return NOTHING;
    const counted = await this.counted(vocabulary, await this.lookUp(vocabulary, words));
    const known = counted.filter(({ alternatives, word }) => alternatives.length > 0 || !word.isWhole);
    const groups = known.map((word) => groupOf(word, vocabulary.chunks));
    const conditions = known.flatMap((word) => (word.chunks > 0 ? [asCondition(vocabulary.number, word, groupOf(word, vocabulary.chunks).information)] : []));
    if (conditions.length === 0) return NOTHING;
    // What holds sentences together is looked for only where nothing else is asked for.
    const saying = known.filter(({ word, chunks }) => chunks > 0 && !word.isFunctionWord).map(({ any }) => any);
    const asked = saying.length > 0 ? conditions.filter(({ any }) => saying.includes(any)) : conditions;
    const wanted = wantedBy(groups);
    const scoreOf = (chunk: ChunkText): number => scoreChunk(groups, wanted, chunk);
    return { scoreOf, top: async (limit) => this.top(scope, vocabulary, asked, scoreOf, limit) };
  }

  private async lookUp({ number, languages }: VocabularyFacts, words: readonly QueryWord[]): Promise<Word[]> {
    const lookups = words.map((word) => new WordLookup(word, languages));
    // Each word has the terms that were read for it: what else is asked for must not change what it is taken for.
    const known = lookups.map(() => new Map<string, Term>());
    const exactOf = lookups.map((lookup) => new Set(lookup.exactTerms()));
    const addTerms = (terms: readonly FoundTerm[]): void => {
      for (const { term, sampled, word } of terms) {
        if (word !== null) known[word]?.set(term, { term, sampled });
        else for (const [index, exact] of exactOf.entries()) if (exact.has(term)) known[index]?.set(term, { term, sampled });
      }
    };
    const exact = [...new Set(exactOf.flatMap((terms) => [...terms]))];
    const beginning = lookups.flatMap((lookup, word) => lookup.formRanges().map((range) => ({ ...range, word })));
    addTerms(await readTerms(this.database, number, words.length, { exact, beginning, ending: [] }));
    const slice = new TimeSlice(COMPUTE_SLICE_MS);
    const second: ReturnType<WordLookup['secondRanges']>[] = [];
    for (const [word, lookup] of lookups.entries()) {
      second.push(lookup.secondRanges(known[word] ?? new Map()));
      await slice.rest();
    }
    addTerms(
      await readTerms(this.database, number, words.length, {
        exact: [],
        beginning: second.flatMap((ranges, word) => ranges.beginning.map((range) => ({ ...range, word }))),
        ending: second.flatMap((ranges, word) => ranges.ending.map((range) => ({ ...range, word }))),
      }),
    );
    const found: Word[] = [];
    for (const [index, lookup] of lookups.entries()) {
      const own = known[index] ?? new Map<string, Term>();
      const alternatives = await lookup.alternatives(own, slice);
      const sampled = alternatives.reduce((sum, { lexemes }) => sum + sampledOf(lexemes, own), 0);
      found.push({ word: lookup.word, alternatives, sampled, any: conditionOf(number, alternatives) });
      await slice.rest();
    }
    return found;
  }

  private async counted({ chunks }: VocabularyFacts, words: readonly Word[]): Promise<CountedWord[]> {
    const isRare = ({ sampled, any }: Word): boolean => sampled < MIN_SAMPLED && any !== '';
    const counts = await countChunks(this.database, words.filter(isRare).map(({ any }) => any));
    let next = 0;
    return words.map((word) => ({ ...word, chunks: isRare(word) ? (counts[next++] ?? 0) : Math.min(chunks, word.sampled * SAMPLED_ONE_IN) }));
  }

  private async top(scope: SearchScope, vocabulary: VocabularyFacts, conditions: readonly Condition[], scoreOf: (chunk: ChunkText) => number, limit: number): Promise<readonly KeywordMatch[]> {
    const read = Math.min(Math.max(READ.least, READ.perResult * limit), Math.max(READ.most, limit));
    const rows = await this.found(scope, vocabulary, conditions, read);
    // The rows are in the order of their documents, which is that of equal scores.
    return rows
      .map((row) => ({ chunkId: row.chunkId, score: scoreOf(row) }))
      .filter(({ score }) => score > 0)
      .sort((left, right) => right.score - left.score)
      .slice(0, limit);
  }

  /** Those that are read. Where more are found than are looked at, it is a part that their content decides, and never what comes first where it is stored. */
  private async found(scope: SearchScope, { number, chunks }: VocabularyFacts, conditions: readonly Condition[], read: number): Promise<readonly FoundChunk[]> {
    const ranked = conditions.toSorted((left, right) => right.information - left.information).slice(0, MAX_RANKED_WORDS);
    const sql = topSql(ranked.length);
    const wanted = candidatesOf(number, chunks, conditions);
    let found: readonly FoundChunk[] = [];
    for (let level = 0; level <= PART_LEVELS; level += LEVELS_AT_A_TIME) {
      const rows = await this.database.query<FoundChunk>(sql, [
        ...[scope.organizationId, scope.agentId, JSON.stringify(scope.userContext ?? {}), read],
        ...[partOf(number, wanted, level), ranked.map(({ named }) => named).join(' | '), this.mostFound + 1],
        ...ranked.flatMap(({ any, information }) => [any, Math.round(information * 1_000)]),
      ]);
      if (rows.length > 0) found = rows;
      if ((rows[0]?.found ?? 0) <= this.mostFound) break;
    }
    return found;
  }
}

interface FoundChunk extends ChunkText {
  /** How many were found in all, at most one more than are looked at. */
  readonly found: number;
}

const NOTHING: KeywordQuery = { top: () => Promise.resolve([]), scoreOf: () => 0 };

function sampledOf(lexemes: readonly string[], known: ReadonlyMap<string, Term>): number {
  return Math.min(...lexemes.map((lexeme) => known.get(lexeme)?.sampled ?? 0));
}

function groupOf({ word, alternatives, chunks }: CountedWord, all: number): QueryGroup {
  const share = chunks > 0 ? 1 : UNKNOWN_WORD;
  const information = Math.log(1 + (all + 0.5) / (Math.max(chunks, 1) + 0.5)) * share * (word.isFunctionWord ? FUNCTION_WORD : 1);
  return { alternatives, information, length: word.text.length };
}

function asCondition(vocabulary: number, { alternatives, any, chunks }: CountedWord, information: number): Condition {
  const strong = alternatives.filter(({ weight }) => weight >= STRONG);
  return { any, chunks, information, named: conditionOf(vocabulary, strong.length > 0 ? strong : alternatives, LEXEME.named) };
}

/**
 * What the index tells of a chunk ranks it first: the words that it has, and any of them in its headings. Queries are parsed once,
 * in `asked`: as parameters of a prepared statement they would be for each row. The limit of `found` ends what estimates that are
 * far off would let through, which its number tells; below it the order does not depend on how rows are stored.
 */
function topSql(words: number): string {
  const asked = Array.from({ length: words }, (_, index) => `, $${8 + 2 * index}::tsquery as q${index}`);
  const ranks = Array.from({ length: words }, (_, index) => `case when w.words @@ a.q${index} then $${9 + 2 * index}::integer else 0 end`);
  return `with asked as materialized (select $5::tsquery as any_of, $6::tsquery as named${asked.join('')}),
    found as materialized (
      select w.chunk_id, ${ranks.join(' + ')} + case when w.words @@ a.named then 100 else 0 end as rank
        from asked a cross join lateral (select chunk_id, words from knowledge_chunk_words where words @@ a.any_of limit $7::integer) w),
    best as (
      select c.id, d.kind, d.key collate "C" as key, d.title, c.position
        from found f join knowledge_chunks c on c.id = f.chunk_id join knowledge_documents d on d.id = c.document_id
       where c.organization_id = $1::uuid and c.agent_id = $2::uuid and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ $3::text::jsonb)
       order by f.rank desc, d.kind, d.key collate "C", c.position, c.id limit $4::integer)
    select b.id::text as "chunkId", b.title, c.heading, c.text, (select count(*) from found)::integer as found from best b join knowledge_chunks c on c.id = b.id
     order by b.kind, b.key, b.position, b.id`;
}
