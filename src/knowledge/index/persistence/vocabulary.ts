import type { SqlExecutor } from '../../../platform/database/index.js';
import { uuids } from './arrays.js';
import type { IndexedWords } from '../application/indexing/prepared-document.js';

/** Between an agent's number and a word: of a text, of a title or heading, and of the parts of all chunks that one is in. */
export const LEXEME = { word: ':', named: '^', part: '#' } as const;
/** The smallest part is one chunk of 2 to the power of this. */
export const PART_LEVELS = 8;

/** An agent's vocabulary, locked by the transaction that asked for it. */
export interface Vocabulary {
  readonly organizationId: string;
  readonly agentId: string;
  /** Short, and in front of each of the agent's words: so a search reads this agent's part of the index alone. */
  readonly number: number;
  /** Another one whenever words were removed since. */
  readonly generation: number;
}

interface Owner {
  readonly organizationId: string;
  readonly agentId: string;
}

/** What a transaction adds to a vocabulary that it locks. */
export interface Addition {
  readonly chunks?: number;
  readonly language?: string | null;
}

/**
 * Before any document or chunk is touched: everybody who writes an agent's knowledge comes by here, so that no two
 * transactions wait for each other, and a word goes only when no chunk can be coming that has it.
 */
export async function lockVocabulary(transaction: SqlExecutor, { organizationId, agentId }: Owner, { chunks = 0, language = null }: Addition = {}): Promise<Vocabulary> {
  const [row] = await transaction.query<{ number: number; generation: number }>(
    `insert into knowledge_vocabularies as v (agent_id, organization_id, chunks, languages)
     values ($1::uuid, $2::uuid, $3::integer, array_remove(array[$4::text], null))
     on conflict (agent_id) do update set chunks = v.chunks + excluded.chunks,
       languages = case when v.languages @> excluded.languages then v.languages else v.languages || excluded.languages end
     returning number, generation`,
    [agentId, organizationId, chunks, language],
  );
  if (!row) throw new Error('The vocabulary was neither there nor made');
  return { organizationId, agentId, ...row };
}

/** Makes sure that words are there, and counts those of sampled chunks. @returns those that the caller has to insert */
export async function countWords(transaction: SqlExecutor, vocabulary: Vocabulary, chunks: readonly IndexedWords[]): Promise<Set<string>> {
  const terms = new Set(chunks.flatMap(({ forms }) => [...forms]));
  const counts = countsOf(chunks.filter(({ sampled }) => sampled).map(({ forms }) => forms));
  if (counts.size === 0) return terms;
  await transaction.query(
    `insert into knowledge_terms as t (vocabulary, term, sampled)
     select $1::integer, term, n from unnest(string_to_array($2::text, ' '), string_to_array($3::text, ' ')::integer[]) as given(term, n)
     on conflict (vocabulary, term) do update set sampled = t.sampled + excluded.sampled`,
    [vocabulary.number, [...counts.keys()].join(' '), [...counts.values()].join(' ')],
  );
  for (const term of counts.keys()) terms.delete(term);
  return terms;
}

/**
 * Of chunks whose rows are deleted next, by the caller.
 * @param kept words that other chunks of the document are known to have
 */
export async function removeWords(transaction: SqlExecutor, vocabulary: Vocabulary, chunkIds: readonly string[], kept: ReadonlySet<string> = new Set()): Promise<void> {
  const rows = await transaction.query<{ sampled: boolean; words: string }>(
    `delete from knowledge_chunk_words where chunk_id = any($1::text::uuid[]) returning sampled, array_to_string(tsvector_to_array(words), ' ') as words`,
    [uuids(chunkIds)],
  );
  const prefix = `${vocabulary.number}${LEXEME.word}`;
  const chunks = rows.map(({ sampled, words }) => ({
    sampled,
    forms: words.split(' ').filter((lexeme) => lexeme.startsWith(prefix)).map((lexeme) => lexeme.slice(prefix.length)),
  }));
  await discount(transaction, vocabulary, countsOf(chunks.filter(({ sampled }) => sampled).map(({ forms }) => forms)));
  // Counted, since the planner may look for a first row, as `exists` asks for it, in the whole table instead of the index. Those of a word are few: no sampled chunk has it.
  const candidates = new Set(chunks.flatMap(({ forms }) => forms.filter((form) => !kept.has(form))));
  await transaction.query(
    `with gone as (
       delete from knowledge_terms t where vocabulary = $1::integer and term = any(string_to_array($2::text, ' ')) and sampled = 0
          and (select count(*) from knowledge_chunk_words w where w.words @@ ($3::text || t.term || '''')::tsquery) = 0
       returning 1)
     update knowledge_vocabularies set chunks = chunks - $4::integer, generation = generation + (select count(*) from (select from gone limit 1) any_gone)::integer
      where organization_id = $6::uuid and agent_id = $5::uuid`,
    [vocabulary.number, [...candidates].sort().join(' '), `'${prefix}`, rows.length, vocabulary.agentId, vocabulary.organizationId],
  );
}

export function lexemesOf({ number }: Vocabulary, { forms, named, lot }: IndexedWords): string[] {
  return [
    ...Array.from(forms, (form) => `${number}${LEXEME.word}${form}`),
    ...Array.from(named, (form) => `${number}${LEXEME.named}${form}`),
    ...Array.from({ length: PART_LEVELS }, (_, level) => level + 1).filter((level) => lot < 2 ** (PART_LEVELS - level)).map((level) => partLexeme(number, level)),
  ];
}

/** Of each second chunk, fourth, eighth and so on: one word for a part of any size, since the index reads all that it is asked for. */
export function partLexeme(vocabulary: number, level: number): string {
  return `${vocabulary}${LEXEME.part}${level}`;
}

function countsOf(chunks: readonly Iterable<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const forms of chunks) for (const form of forms) counts.set(form, (counts.get(form) ?? 0) + 1);
  return counts;
}

async function discount(transaction: SqlExecutor, { number }: Vocabulary, counts: ReadonlyMap<string, number>): Promise<void> {
  if (counts.size === 0) return;
  await transaction.query(
    `update knowledge_terms t set sampled = t.sampled - n from unnest(string_to_array($2::text, ' '), string_to_array($3::text, ' ')::integer[]) as c(term, n)
      where t.vocabulary = $1::integer and t.term = c.term`,
    [number, [...counts.keys()].join(' '), [...counts.values()].join(' ')],
  );
}
