import type { SqlExecutor } from '../../../../platform/database/index.js';
import type { SearchScope } from './search-scope.js';

/** An agent's words as a search needs to know them. */
export interface VocabularyFacts {
  readonly number: number;
  /** Of all its documents. */
  readonly chunks: number;
  readonly languages: readonly string[];
}

/** A word of the vocabulary, with the number of sampled chunks that have it. */
export interface Term {
  readonly term: string;
  readonly sampled: number;
}

/** A term that was read for one word of a query. */
export interface FoundTerm extends Term {
  /** The word's place in the query; null for those that were named. */
  readonly word: number | null;
}

/** Words that begin, or end, with some letters. */
export interface TermRange {
  readonly letters: string;
  /** In characters. */
  readonly minLength: number;
  readonly maxLength: number;
  readonly limit: number;
}

export async function readVocabulary(executor: SqlExecutor, { organizationId, agentId }: SearchScope): Promise<VocabularyFacts | null> {
  const [row] = await executor.query<VocabularyFacts>(
    'select number, chunks, languages from knowledge_vocabularies where organization_id = $1::uuid and agent_id = $2::uuid and chunks > 0',
    [organizationId, agentId],
  );
  return row ?? null;
}

export interface TermsWanted {
  readonly exact: readonly string[];
  readonly beginning: readonly WordRange[];
  readonly ending: readonly WordRange[];
}

export interface WordRange extends TermRange {
  readonly word: number;
}

/** Terms of a range that are read for the sake of their length, whether or not it fits: a few letters may begin any number of words. */
const MAX_SCANNED = 3_000;
/** Words of a query for which ranges are read in full; where there are more, each has its part of that. */
const FULL_WORDS = 8;
/** Words whose ranges one statement reads: the embedded database works in the thread that answers requests. */
const READ_AT_ONCE = 4;
const RANGES = 'as r(word integer, letters text, "minLength" integer, "maxLength" integer, "limit" integer)';

/** @param words of the whole query */
export async function readTerms(executor: SqlExecutor, vocabulary: number, words: number, { exact, beginning, ending }: TermsWanted): Promise<FoundTerm[]> {
  const found: FoundTerm[] = [];
  for (let first = 0; first < Math.max(words, 1); first += READ_AT_ONCE) {
    const isRead = ({ word }: WordRange): boolean => word >= first && word < first + READ_AT_ONCE;
    const part = { exact: first === 0 ? exact : [], beginning: beginning.filter(isRead), ending: ending.filter(isRead) };
    for (const term of await readPart(executor, vocabulary, words, part)) found.push(term);
  }
  return found;
}

async function readPart(executor: SqlExecutor, vocabulary: number, words: number, { exact, beginning, ending }: TermsWanted): Promise<FoundTerm[]> {
  if (exact.length + beginning.length + ending.length === 0) return [];
  const share = Math.min(1, FULL_WORDS / Math.max(words, 1));
  const limited = (ranges: readonly WordRange[]): string => JSON.stringify(ranges.map((range) => ({ ...range, limit: Math.ceil(range.limit * share) })));
  return executor.query<FoundTerm>(
    `select term, sampled, null::integer as word from knowledge_terms where vocabulary = $1::integer and term = any(string_to_array($2::text, ' '))
     union all
     select t.term, t.sampled, r.word from jsonb_to_recordset($3::text::jsonb) ${RANGES}
       cross join lateral (
         select term, sampled from (
           select term, sampled from knowledge_terms
            where vocabulary = $1::integer and term >= r.letters collate "C" and term < (r.letters || U&'\\+10FFFF') collate "C"
            order by term limit $5::integer) scanned
          where char_length(term) between r."minLength" and r."maxLength"
          order by term limit r."limit") t
     union all
     select t.term, t.sampled, r.word from jsonb_to_recordset($4::text::jsonb) ${RANGES}
       cross join lateral (
         select term, sampled from (
           select term, sampled from knowledge_terms
            where vocabulary = $1::integer and reverse(term) collate "C" >= reverse(r.letters) collate "C"
              and reverse(term) collate "C" < (reverse(r.letters) || U&'\\+10FFFF') collate "C"
            order by reverse(term) collate "C" limit $5::integer) scanned
          where char_length(term) between r."minLength" and r."maxLength"
          order by reverse(term) collate "C" limit r."limit") t`,
    [vocabulary, exact.join(' '), limited(beginning), limited(ending), Math.ceil(MAX_SCANNED * share)],
  );
}

/** More are not counted: a word that so many chunks have is counted among the sampled ones. */
const MAX_COUNTED = 1_000;

/** How many chunks each of some conditions holds for, in their order. */
export async function countChunks(executor: SqlExecutor, conditions: readonly string[]): Promise<number[]> {
  if (conditions.length === 0) return [];
  const rows = await executor.query<{ chunks: number }>(
    `select (select count(*)::integer from (select 1 from knowledge_chunk_words w where w.words @@ c.condition::tsquery limit $2::integer) counted) as chunks
       from unnest(string_to_array($1::text, e'\\n')) with ordinality as c(condition, place) order by c.place`,
    [conditions.join('\n'), MAX_COUNTED],
  );
  return rows.map(({ chunks }) => chunks);
}
