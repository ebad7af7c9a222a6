/** Hot path: every document that is put writes its terms by these statements, and every search reads all of its words by them. */
import {
  type ParameterReferences,
  type ParametersOf,
  type SqlExecutor,
  statement,
} from '../../../platform/database/index.js';
import type { ChunkTerms } from '../domain/chunk-terms.js';
import type { AgentKey } from '../domain/source-kind.js';
import type { IndexedScope } from './indexed-scope.js';
import { BLOCK_SIZE, encodeLength, encodePosting, isGone, keepPostings } from '../domain/postings.js';

/** All documents of one agent with the same scope. */
export interface Partition {
  readonly id: number;
  /** Of the chunks for which the caller has reserved numbers. */
  readonly firstNumber: number;
}

/** What the caller adds to a partition. */
export interface Reservation {
  readonly scope: IndexedScope;
  readonly chunks: number;
  readonly language: string | null;
}

/** A chunk that is written into its partition. */
export interface NumberedChunk {
  readonly number: number;
  readonly terms: ChunkTerms;
}

/** Compounds that end with a term, in the dictionary block: the term with its letters in reverse. */
const DICTIONARY = -1;
const REVERSED = '<';
/** Completions that one statement reads: each block and beginning has its part of them. */
const MAX_COMPLETIONS = 10_000;
const LEAST_A_BLOCK = 20;

const LOCK = `insert into knowledge_vocabularies as v (agent_id, organization_id) values ($1::uuid, $2::uuid)
  on conflict (agent_id) do update set chunks = v.chunks returning agent_id, organization_id`;

/** Before any document or chunk is touched: everything that writes an agent's knowledge takes this lock first, so that no two transactions wait for each other. */
export async function lockAgent(transaction: SqlExecutor, { organizationId, agentId }: AgentKey): Promise<void> {
  await transaction.query(LOCK, [agentId, organizationId]);
}

/** The same, and reserves numbers for chunks. */
export async function lockPartition(
  transaction: SqlExecutor,
  { organizationId, agentId }: AgentKey,
  { scope, chunks, language }: Reservation,
): Promise<Partition> {
  const [row] = await transaction.query<Partition>(
    `with locked as (${LOCK})
     insert into knowledge_partitions as p (organization_id, agent_id, scope, scope_digest, next_number, languages)
     select organization_id, agent_id, $3::text::jsonb, decode($4::text, 'hex'), $5::integer, array_remove(array[$6::text], null) from locked
     on conflict (agent_id, scope_digest) do update set next_number = p.next_number + excluded.next_number,
       languages = case when p.languages @> excluded.languages then p.languages else p.languages || excluded.languages end
     returning id, next_number - $5::integer as "firstNumber"`,
    [agentId, organizationId, scope.json, scope.digest, chunks, language],
  );
  if (!row) throw new Error('The partition was neither there nor made');
  return row;
}

/** What a statement is given that writes the terms of new chunks: columns of rows as text, since the two drivers encode arrays differently. */
export const TERMS = {
  partition: 'integer',
  termBlocks: 'text',
  terms: 'text',
  postings: 'text',
  blocks: 'text',
  lengths: 'text',
} as const;

/** Parts of such a statement. */
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
 * @param chunks by ascending numbers, which follow those that the partition has
 * @param isVisible whether searches find them from the commit on
 */
export function termParameters(
  partition: number,
  chunks: readonly NumberedChunk[],
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
  // In the order of the index, so that neighbours are written together.
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

/** A chunk's place, with what shall become of it. */
export interface PlacedChunk {
  readonly partition: number;
  readonly number: number;
  /** 0 of one that is gone. */
  readonly length: number;
  readonly isVisible: boolean;
}

/** Changes which chunks searches find. The transaction must have the agent's lock. */
export async function placeChunks(transaction: SqlExecutor, chunks: readonly PlacedChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const changes = new Map<string, PlacedChunk[]>();
  for (const chunk of chunks) append(changes, `${chunk.partition} ${Math.floor(chunk.number / BLOCK_SIZE)}`, [chunk]);
  const blocks = [...changes.keys()].map((key) => key.split(' '));
  const keys = [0, 1].map((index) => blocks.map((block) => block[index] ?? '').join(' '));
  const rows = await transaction.query<{ key: string; lengths: Uint8Array }>(
    `select b.partition || ' ' || b.block as key, b.lengths from ${BLOCKS_GIVEN} join knowledge_blocks b on b.partition = t.partition and b.block = t.block`,
    keys,
  );
  const changed = rows.flatMap(({ key, lengths: before }) => {
    const lengths = Uint8Array.from(before);
    for (const { number, length, isVisible } of changes.get(key) ?? [])
      lengths.set(length === 0 ? [0, 0] : encodeLength(length, isVisible), 2 * (number % BLOCK_SIZE));
    return Buffer.compare(before, lengths) === 0 ? [] : [{ key, lengths }];
  });
  if (changed.length === 0) return;
  const changedKeys = changed.map(({ key }) => key.split(' '));
  await transaction.query(
    `update knowledge_blocks b set lengths = decode(t.lengths, 'hex'), live = t.live
       from unnest(string_to_array($1::text, ' ')::integer[], string_to_array($2::text, ' ')::integer[], string_to_array($3::text, ' '), string_to_array($4::text, ' ')::integer[])
         as t(partition, block, lengths, live) where b.partition = t.partition and b.block = t.block`,
    [
      ...[0, 1].map((index) => changedKeys.map((key) => key[index] ?? '').join(' ')),
      changed.map(({ lengths }) => hex(lengths)).join(' '),
      changed.map(({ lengths }) => liveIn(lengths)).join(' '),
    ],
  );
}

const BLOCKS_GIVEN = `unnest(string_to_array($1::text, ' ')::integer[], string_to_array($2::text, ' ')::integer[]) with ordinality as t(partition, block, at)`;

function liveIn(lengths: Uint8Array): number {
  let live = 0;
  for (let at = 0; at < lengths.length; at += 2) if (lengths[at] !== 0 || lengths[at + 1] !== 0) live += 1;
  return live;
}

/** A full block most of whose postings are of chunks that are gone. */
export interface SparseBlock {
  readonly partition: number;
  readonly block: number;
  readonly lengths: Uint8Array;
}

/** Of all organizations. A block that still grows is left out. */
export async function readSparseBlock(executor: SqlExecutor): Promise<SparseBlock | null> {
  const [row] = await executor.query<SparseBlock>(
    `select b.partition, b.block, b.lengths from knowledge_blocks b join knowledge_partitions p on p.id = b.partition
      where b.live * 2 < b.stored and (b.block + 1) * $1::integer <= p.next_number limit 1`,
    [BLOCK_SIZE],
  );
  return row ?? null;
}

/**
 * Removes the postings of chunks that are gone from some of a block's terms.
 * @param after the term up to which they have been removed
 * @returns the last of these terms; null where there are no more
 */
export async function compactTerms(
  transaction: SqlExecutor,
  { partition, block, lengths }: SparseBlock,
  after: string,
  limit: number,
): Promise<string | null> {
  const rows = await transaction.query<{ term: string; postings: Uint8Array }>(
    'select term, postings from knowledge_postings where partition = $1::integer and block = $2::integer and term > $3::text collate "C" order by term limit $4::integer',
    [partition, block, after, limit],
  );
  const kept = rows.map(({ term, postings }) => ({
    term,
    postings: keepPostings(postings, (slot) => !isGone(lengths, slot)),
  }));
  await transaction.query(
    `with given as materialized (select term, decode(postings, 'hex') as postings from unnest(string_to_array($3::text, ' '), string_to_array($4::text, ' ')) as t(term, postings)),
     emptied as (delete from knowledge_postings p using given g where p.partition = $1::integer and p.block = $2::integer and p.term = g.term and g.postings = '')
     update knowledge_postings p set postings = g.postings from given g
      where p.partition = $1::integer and p.block = $2::integer and p.term = g.term and g.postings <> '' and g.postings <> p.postings`,
    [partition, block, kept.map(({ term }) => term).join(' '), kept.map(({ postings }) => hex(postings)).join(' ')],
  );
  return rows.length < limit ? null : (rows.at(-1)?.term ?? null);
}

/** Once all terms of the block have been compacted. */
export async function endCompaction(executor: SqlExecutor, { partition, block, lengths }: SparseBlock): Promise<void> {
  await executor.query(
    'update knowledge_blocks set stored = $3::integer where partition = $1::integer and block = $2::integer',
    [partition, block, liveIn(lengths)],
  );
}

/** Some of an agent's terms: a statement for all of them would keep the embedded database from others. */
export const REMOVE_TERMS = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `
  delete from knowledge_postings where (partition, block, term) in (
    select t.partition, t.block, t.term from knowledge_postings t join knowledge_partitions p on p.id = t.partition
     where p.organization_id = ${p.organizationId} and p.agent_id = ${p.agentId} limit ${p.limit})
  returning 1 as one`,
);

/** A block that a run may see. */
export interface Block {
  readonly partition: number;
  readonly block: number;
  readonly lengths: Uint8Array;
  /** Of the partition's documents. */
  readonly languages: readonly string[];
}

/** @param userContext decides which partitions are seen */
export function readBlocks(
  executor: SqlExecutor,
  { organizationId, agentId }: AgentKey,
  userContext: object | null,
): Promise<Block[]> {
  return executor.query<Block>(
    `select p.id as partition, b.block, b.lengths, p.languages from knowledge_partitions p join knowledge_blocks b on b.partition = p.id
      where p.organization_id = $1::uuid and p.agent_id = $2::uuid and p.scope <@ $3::text::jsonb and b.live > 0`,
    [organizationId, agentId, JSON.stringify(userContext ?? {})],
  );
}

/** One term's row of one block, which is the `at`th of those that were asked for, from 0. */
export interface PostingsRow {
  readonly at: number;
  readonly term: string;
  readonly postings: Uint8Array;
}

export function readPostingRows(
  executor: SqlExecutor,
  blocks: readonly Block[],
  terms: readonly string[],
): Promise<PostingsRow[]> {
  if (terms.length === 0) return Promise.resolve([]);
  return executor.query<PostingsRow>(
    `select (t.at - 1)::integer as at, p.term, p.postings from ${BLOCKS_GIVEN}
      cross join lateral (select term, postings from knowledge_postings p where p.partition = t.partition and p.block = t.block and p.term = any(string_to_array($3::text, ' '))) p`,
    [...keysOf(blocks), terms.join(' ')],
  );
}

/** Terms that begin with some letters, each with those letters. */
export async function readCompletions(
  executor: SqlExecutor,
  blocks: readonly Block[],
  beginnings: readonly string[],
): Promise<{ beginning: string; term: string }[]> {
  if (beginnings.length === 0) return [];
  return executor.query(
    `select distinct l.beginning, p.term from ${BLOCKS_GIVEN} cross join unnest(string_to_array($3::text, ' ')) as l(beginning)
      cross join lateral (
        select term from knowledge_postings p where p.partition = t.partition and p.block = t.block
           and p.term >= l.beginning collate "C" and p.term < (l.beginning || U&'\\+10FFFF') collate "C" order by p.term limit $4::integer) p`,
    [
      ...keysOf(blocks),
      beginnings.join(' '),
      Math.max(LEAST_A_BLOCK, Math.floor(MAX_COMPLETIONS / (blocks.length * beginnings.length))),
    ],
  );
}

/** Compounds that end with some terms, each with its term. */
export async function readCompounds(
  executor: SqlExecutor,
  blocks: readonly Block[],
  heads: readonly string[],
): Promise<{ head: string; term: string }[]> {
  const dictionaries = [...new Set(blocks.map(({ partition }) => partition))].map((partition) => ({
    partition,
    block: DICTIONARY,
    lengths: new Uint8Array(),
    languages: [],
  }));
  const found = await readCompletions(
    executor,
    dictionaries,
    heads.map((head) => REVERSED + reverse(head)),
  );
  return found.map(({ beginning, term }) => ({ head: reverse(beginning.slice(1)), term: reverse(term.slice(1)) }));
}

function keysOf(blocks: readonly Block[]): [string, string] {
  return [blocks.map(({ partition }) => partition).join(' '), blocks.map(({ block }) => block).join(' ')];
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
