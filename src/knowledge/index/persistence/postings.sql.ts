/** Hot path: each document that is indexed writes its terms with these statements, and each search reads all its postings with them. */
import {
  type ParameterReferences,
  type ParametersOf,
  type SqlExecutor,
  statement,
} from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import type { ChunkTerms } from '../domain/chunk-terms.js';
import { BLOCK_SIZE, encodeLength, encodePosting, filterPostings, isDeleted } from '../domain/postings.js';
import type { AgentKey, DocumentScope } from '../domain/source-kind.js';
import { indexedScope } from './knowledge.schema.js';

/** The number of the block that lists compounds by their ends: each compound is a term with its letters reversed. */
const DICTIONARY = -1;
const REVERSED = '<';
/** Completions that one statement reads, shared among all blocks and beginnings. */
const MAX_COMPLETIONS = 10_000;
const MIN_COMPLETIONS_OF_BLOCK = 20;

const AGENT = { organizationId: 'uuid', agentId: 'uuid' } as const;

const lockedAgent = (p: ParameterReferences<typeof AGENT>): string =>
  `insert into knowledge_vocabularies as v (agent_id, organization_id) values (${p.agentId}, ${p.organizationId})
  on conflict (agent_id) do update set chunks = v.chunks returning agent_id, organization_id`;

const LOCK_AGENT = statement(AGENT, lockedAgent);

const RESERVE_NUMBERS = statement(
  { ...AGENT, scope: 'text', scopeDigest: 'text', chunks: 'integer', language: 'text' },
  (p) => `
  with locked as (${lockedAgent(p)})
  insert into knowledge_partitions as p (organization_id, agent_id, scope, scope_digest, next_number, languages)
  select organization_id, agent_id, ${p.scope}::jsonb, decode(${p.scopeDigest}, 'hex'), ${p.chunks}, array_remove(array[${p.language}], null) from locked
  on conflict (agent_id, scope_digest) do update set next_number = p.next_number + excluded.next_number,
    languages = case when p.languages @> excluded.languages then p.languages else p.languages || excluded.languages end
  returning id, next_number - ${p.chunks} as "firstNumber"`,
);

/** Each transaction that writes an agent's knowledge takes this lock before it touches a document or chunk, so that no two transactions deadlock. */
export async function lockKnowledge(transaction: SqlExecutor, agent: AgentKey): Promise<void> {
  await LOCK_AGENT.run(transaction, { ...agent });
}

/** Takes the lock of `lockKnowledge`, and reserves numbers for new chunks. @returns the partition of their scope, and the first number */
export async function reserveNumbers(
  transaction: SqlExecutor,
  agent: AgentKey,
  added: { readonly scope: DocumentScope; readonly chunks: number; readonly language: string | null },
): Promise<{ readonly id: number; readonly firstNumber: number }> {
  const { json: scope, digest: scopeDigest } = indexedScope(added.scope);
  const parameters = { ...agent, ...added, scope, scopeDigest };
  const [row] = await RESERVE_NUMBERS.run<{ id: number; firstNumber: number }>(transaction, parameters);
  if (!row) throw new Error('The database returned no partition');
  return row;
}

/** The parameters of a statement that writes the terms of new chunks: each is a column of rows as text, since the two drivers encode arrays differently. */
export const TERMS = {
  partition: 'integer',
  termBlocks: 'text',
  terms: 'text',
  postings: 'text',
  blocks: 'text',
  lengths: 'text',
} as const;

/** Two common table expressions of such a statement. */
export function insertTerms(p: ParameterReferences<typeof TERMS>): string {
  return `postings as (
      insert into knowledge_postings as p (partition, block, term, postings)
      select ${p.partition}, block, term, decode(postings, 'hex')
        from unnest(string_to_array(${p.termBlocks}, ' ')::integer[], string_to_array(${p.terms}, ' '), string_to_array(${p.postings}, ' ')) as t(block, term, postings)
      on conflict (partition, block, term) do update set postings = p.postings || excluded.postings where excluded.postings <> ''),
    blocks as (
      insert into knowledge_blocks as b (partition, block, lengths, live, stored)
      select ${p.partition}, block, decode(lengths, 'hex'), length(lengths) / 4, length(lengths) / 4
        from unnest(string_to_array(${p.blocks}, ' ')::integer[], string_to_array(${p.lengths}, ' ')) as t(block, lengths)
      on conflict (partition, block) do update
        set lengths = b.lengths || excluded.lengths, live = b.live + excluded.live, stored = b.stored + excluded.stored)`;
}

/**
 * @param chunks sorted by number; the numbers follow those that the partition has
 * @param isVisible whether searches find the chunks once the transaction has committed
 */
export function termParameters(
  partition: number,
  chunks: readonly { readonly number: number; readonly terms: ChunkTerms }[],
  isVisible: boolean,
): ParametersOf<typeof TERMS> {
  const lengths = new Map<number, number[]>();
  const postings = new Map<string, number[]>();
  for (const { number, terms } of chunks) {
    const block = Math.floor(number / BLOCK_SIZE);
    append(lengths, block, encodeLength(terms.length, isVisible));
    for (const [term, occurrence] of terms.terms)
      append(postings, `${block} ${term}`, encodePosting(number % BLOCK_SIZE, occurrence));
    for (const term of terms.compounds) postings.set(`${DICTIONARY} ${REVERSED}${reverse(term)}`, []);
  }
  // In the order of the primary key, so that neighbouring index entries are written together.
  const rows = [...postings]
    .map(([key, bytes]) => [...key.split(' '), hex(bytes)])
    .sort(
      ([block = '', term = ''], [otherBlock = '', otherTerm = '']) =>
        Number(block) - Number(otherBlock) || (term < otherTerm ? -1 : 1),
    );
  const column = (index: number): string => rows.map((row) => row[index] ?? '').join(' ');
  const added = { blocks: [...lengths.keys()].join(' '), lengths: Array.from(lengths.values(), hex).join(' ') };
  return { partition, termBlocks: column(0), terms: column(1), postings: column(2), ...added };
}

/** A chunk's place, and what its block stores there. */
export interface PlacedChunk {
  readonly partition: number;
  readonly number: number;
  /** 0 if the chunk is deleted. */
  readonly length: number;
  readonly isVisible: boolean;
}

const GIVEN_BLOCKS = { partitions: 'text', blocks: 'text' } as const;

const givenBlocks = (p: ParameterReferences<typeof GIVEN_BLOCKS>): string =>
  `unnest(string_to_array(${p.partitions}, ' ')::integer[], string_to_array(${p.blocks}, ' ')::integer[]) with ordinality as t(partition, block, at)`;

const READ_LENGTHS = statement(
  GIVEN_BLOCKS,
  (p) => `
  select b.partition, b.block, b.lengths from ${givenBlocks(p)} join knowledge_blocks b on b.partition = t.partition and b.block = t.block`,
);

const UPDATE_LENGTHS = statement(
  { ...GIVEN_BLOCKS, lengths: 'text', live: 'text' },
  (p) => `
  update knowledge_blocks b set lengths = decode(t.lengths, 'hex'), live = t.live
    from unnest(string_to_array(${p.partitions}, ' ')::integer[], string_to_array(${p.blocks}, ' ')::integer[], string_to_array(${p.lengths}, ' '), string_to_array(${p.live}, ' ')::integer[])
      as t(partition, block, lengths, live) where b.partition = t.partition and b.block = t.block`,
);

type BlockKey = Pick<Block, 'partition' | 'block'>;

/** Changes which chunks searches find. The transaction must have the agent's lock. */
export async function updatePlaces(transaction: SqlExecutor, chunks: readonly PlacedChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const changes = new Map<string, PlacedChunk[]>();
  const blocks: BlockKey[] = [];
  for (const chunk of chunks) {
    const [partition, block] = [chunk.partition, Math.floor(chunk.number / BLOCK_SIZE)];
    const key = `${partition} ${block}`;
    if (!changes.has(key)) blocks.push({ partition, block });
    append(changes, key, [chunk]);
  }
  const rows = await READ_LENGTHS.run<BlockKey & { lengths: Uint8Array }>(transaction, blockKeys(blocks));
  const changed = rows.flatMap(({ partition, block, lengths: before }) => {
    const lengths = Uint8Array.from(before);
    for (const { number, length, isVisible } of changes.get(`${partition} ${block}`) ?? [])
      lengths.set(length === 0 ? [0, 0] : encodeLength(length, isVisible), 2 * (number % BLOCK_SIZE));
    return Buffer.compare(before, lengths) === 0 ? [] : [{ partition, block, lengths }];
  });
  if (changed.length === 0) return;
  await UPDATE_LENGTHS.run(transaction, {
    ...blockKeys(changed),
    lengths: changed.map(({ lengths }) => hex(lengths)).join(' '),
    live: changed.map(({ lengths }) => countLive(lengths)).join(' '),
  });
}

function countLive(lengths: Uint8Array): number {
  let live = 0;
  for (let at = 0; at < lengths.length; at += 2) if (lengths[at] !== 0 || lengths[at + 1] !== 0) live += 1;
  return live;
}

/** A full block most of whose chunks are deleted. */
export interface SparseBlock extends BlockKey {
  readonly lengths: Uint8Array;
}

const FIND_SPARSE_BLOCK = statement(
  { blockSize: 'integer' },
  (p) => `
  select b.partition, b.block, b.lengths from knowledge_blocks b join knowledge_partitions p on p.id = b.partition
   where b.live * 2 < b.stored and (b.block + 1) * ${p.blockSize} <= p.next_number limit 1`,
);

/** Finds one in any organization. A block that is not full yet is left out. */
export async function findSparseBlock(executor: SqlExecutor): Promise<SparseBlock | null> {
  const [row] = await FIND_SPARSE_BLOCK.run<SparseBlock>(executor, { blockSize: BLOCK_SIZE });
  return row ?? null;
}

const BLOCK = { partition: 'integer', block: 'integer' } as const;

const READ_TERMS = statement(
  { ...BLOCK, after: 'text', limit: 'integer' },
  (p) => `
  select term, postings from knowledge_postings
   where partition = ${p.partition} and block = ${p.block} and term > ${p.after} collate "C" order by term limit ${p.limit}`,
);

const REPLACE_POSTINGS = statement(
  { ...BLOCK, terms: 'text', postings: 'text' },
  (p) => `
  with given as materialized (select term, decode(postings, 'hex') as postings from unnest(string_to_array(${p.terms}, ' '), string_to_array(${p.postings}, ' ')) as t(term, postings)),
  emptied as (delete from knowledge_postings p using given g where p.partition = ${p.partition} and p.block = ${p.block} and p.term = g.term and g.postings = '')
  update knowledge_postings p set postings = g.postings from given g
   where p.partition = ${p.partition} and p.block = ${p.block} and p.term = g.term and g.postings <> '' and g.postings <> p.postings`,
);

/**
 * Removes the postings of deleted chunks from at most `limit` terms of a block.
 * @param after the last term of the call before; '' in the first call
 * @returns the last of the terms; null if no more follow
 */
export async function compactTerms(
  transaction: SqlExecutor,
  { partition, block, lengths }: SparseBlock,
  after: string,
  limit: number,
): Promise<string | null> {
  const page = { partition, block, after, limit };
  const rows = await READ_TERMS.run<{ term: string; postings: Uint8Array }>(transaction, page);
  const postings = rows.map((row) => hex(filterPostings(row.postings, (slot) => !isDeleted(lengths, slot)))).join(' ');
  await REPLACE_POSTINGS.run(transaction, { ...page, terms: rows.map(({ term }) => term).join(' '), postings });
  return rows.length < limit ? null : (rows.at(-1)?.term ?? null);
}

const SET_STORED = statement(
  { ...BLOCK, stored: 'integer' },
  (p) => `update knowledge_blocks set stored = ${p.stored} where partition = ${p.partition} and block = ${p.block}`,
);

/** Call it once all terms of the block have been compacted. */
export async function endCompaction(executor: SqlExecutor, { partition, block, lengths }: SparseBlock): Promise<void> {
  await SET_STORED.run(executor, { partition, block, stored: countLive(lengths) });
}

/** Removes some of an agent's terms: one statement for all of them would block the embedded database for too long. */
export const REMOVE_TERMS = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `
  delete from knowledge_postings where (partition, block, term) in (
    select t.partition, t.block, t.term from knowledge_postings t join knowledge_partitions p on p.id = t.partition
     where p.organization_id = ${p.organizationId} and p.agent_id = ${p.agentId} limit ${p.limit})
  returning 1 as one`,
);

/** A block of a partition whose documents the run may see. */
export interface Block {
  readonly partition: number;
  readonly block: number;
  readonly lengths: Uint8Array;
  /** The languages of the partition's documents. */
  readonly languages: readonly string[];
}

const READ_BLOCKS = statement(
  { ...AGENT, userContext: 'jsonb' },
  (p) => `
  select p.id as partition, b.block, b.lengths, p.languages from knowledge_partitions p join knowledge_blocks b on b.partition = p.id
   where p.organization_id = ${p.organizationId} and p.agent_id = ${p.agentId} and p.scope <@ ${p.userContext} and b.live > 0`,
);

/** The blocks of all partitions that the run may see. */
export function readBlocks(executor: SqlExecutor, scope: SearchScope): Promise<Block[]> {
  return READ_BLOCKS.run(executor, { ...scope, userContext: scope.userContext ?? {} });
}

const READ_POSTINGS = statement(
  { ...GIVEN_BLOCKS, terms: 'text' },
  (p) => `
  select (t.at - 1)::integer as at, p.term, p.postings from ${givenBlocks(p)}
   cross join lateral (select term, postings from knowledge_postings p where p.partition = t.partition and p.block = t.block and p.term = any(string_to_array(${p.terms}, ' '))) p`,
);

/** @returns the terms' postings; `at` is the index of their block in `blocks` */
export async function readPostingRows(
  executor: SqlExecutor,
  blocks: readonly Block[],
  terms: readonly string[],
): Promise<{ at: number; term: string; postings: Uint8Array }[]> {
  return terms.length === 0 ? [] : READ_POSTINGS.run(executor, { ...blockKeys(blocks), terms: terms.join(' ') });
}

const READ_COMPLETIONS = statement(
  { ...GIVEN_BLOCKS, beginnings: 'text', limit: 'integer' },
  (p) => `
  select distinct l.beginning, p.term from ${givenBlocks(p)} cross join unnest(string_to_array(${p.beginnings}, ' ')) as l(beginning)
   cross join lateral (
     select term from knowledge_postings p where p.partition = t.partition and p.block = t.block
        and p.term >= l.beginning collate "C" and p.term < (l.beginning || U&'\\+10FFFF') collate "C" order by p.term limit ${p.limit}) p`,
);

/** Finds the terms that begin with one of `beginnings`. */
export async function readCompletions(
  executor: SqlExecutor,
  blocks: readonly BlockKey[],
  beginnings: readonly string[],
): Promise<{ beginning: string; term: string }[]> {
  if (beginnings.length === 0) return [];
  return READ_COMPLETIONS.run(executor, {
    ...blockKeys(blocks),
    beginnings: beginnings.join(' '),
    limit: Math.max(MIN_COMPLETIONS_OF_BLOCK, Math.floor(MAX_COMPLETIONS / (blocks.length * beginnings.length))),
  });
}

/** Finds the compounds that end with one of `heads`. */
export async function readCompounds(
  executor: SqlExecutor,
  blocks: readonly BlockKey[],
  heads: readonly string[],
): Promise<{ head: string; term: string }[]> {
  const partitions = [...new Set(blocks.map(({ partition }) => partition))];
  const found = await readCompletions(
    executor,
    partitions.map((partition) => ({ partition, block: DICTIONARY })),
    heads.map((head) => REVERSED + reverse(head)),
  );
  return found.map(({ beginning, term }) => ({ head: reverse(beginning.slice(1)), term: reverse(term.slice(1)) }));
}

function blockKeys(blocks: readonly BlockKey[]): ParametersOf<typeof GIVEN_BLOCKS> {
  return {
    partitions: blocks.map(({ partition }) => partition).join(' '),
    blocks: blocks.map(({ block }) => block).join(' '),
  };
}

function reverse(term: string): string {
  return [...term].reverse().join('');
}

function hex(bytes: ArrayLike<number>): string {
  return Buffer.from(bytes).toString('hex');
}

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, values: readonly Value[]): void {
  const known = map.get(key);
  if (known) known.push(...values);
  else map.set(key, [...values]);
}
