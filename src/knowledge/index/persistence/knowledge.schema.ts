import { defineEntity, p } from '@mikro-orm/core';
import { createHash } from 'node:crypto';
import { type ContextSchema, CustomerJson, migration } from '../../../platform/database/index.js';
import type { SourceKind } from '../domain/source-kind.js';

export const StoredDocument = defineEntity({
  name: 'StoredKnowledgeDocument',
  tableName: 'knowledge_documents',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    kind: p.text().$type<SourceKind>(),
    key: p.text(),
    /** SHA-256 of `key`, which may be longer than an index takes. */
    keyDigest: p.blob().columnType('bytea'),
    title: p.text(),
    url: p.text().strictNullable(),
    scope: new CustomerJson<Readonly<Record<string, string | number | boolean>>>('knowledge_documents.scope')
      .property()
      .strictNullable(),
    /** Of everything that its chunks are made of. */
    digest: p.blob().columnType('bytea'),
    /** Which of its chunks can be seen (`VISIBLE_CHUNK`). 0 before it has any, -1 once it is being removed. */
    revision: p.integer(),
    /** Who writes its chunks in several transactions; each of them finds out here that another has begun since. */
    writer: p.uuid().strictNullable(),
    /** Of those that can be seen. */
    chunks: p.integer(),
    /** Of the text of those. */
    bytes: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

export const StoredChunk = defineEntity({
  name: 'StoredKnowledgeChunk',
  tableName: 'knowledge_chunks',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    documentId: p.uuid(),
    position: p.integer(),
    heading: p.text().strictNullable(),
    /** Of its page, nearest above it. */
    anchor: p.text().strictNullable(),
    page: p.integer().strictNullable(),
    text: p.text(),
    /** Of what is embedded of it. */
    digest: p.blob().columnType('bytea'),
    /** The first revision of its document that has it. */
    validFrom: p.integer(),
    /** The first one that does not. */
    validUntil: p.integer(),
    /** Where keywords find it (`knowledge_postings`); null of one that a former version of the service wrote, until `MaintainPostings` comes by. */
    partition: p.integer().strictNullable(),
    number: p.integer().strictNullable(),
    /** In words. */
    length: p.integer().strictNullable(),
  },
});

/** Compared by the database alone. */
const PARTITION_SCOPE = new CustomerJson<object>('knowledge_partitions.scope');

/** All documents of an agent with the same scope. Its blocks and their postings are read and written by hand (`postings.sql.ts`). */
export const StoredPartition = defineEntity({
  name: 'StoredKnowledgePartition',
  tableName: 'knowledge_partitions',
  properties: {
    id: p.integer().primary().autoincrement(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    scope: PARTITION_SCOPE.property(),
    scopeDigest: p.blob().columnType('bytea'),
    /** Of the next chunk. */
    nextNumber: p.integer(),
    languages: p.array(),
  },
});

/** What all that writes an agent's knowledge locks (`lockAgent`); the other columns are of a former version. */
export const StoredVocabulary = defineEntity({
  name: 'StoredKnowledgeVocabulary',
  tableName: 'knowledge_vocabularies',
  properties: { agentId: p.uuid().primary(), organizationId: p.uuid() },
});

export function keyDigest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Of `knowledge_chunks c` and its `knowledge_documents d`: others are not written yet, or not removed yet. */
export const VISIBLE_CHUNK = 'd.revision >= c.valid_from and d.revision < c.valid_until';

/** No foreign key leads to the agent: an agent's documents are removed in batches. */
const init = migration('2026112310_knowledge_index', [
  `create table knowledge_documents (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null,
    kind text not null,
    key text not null,
    key_digest bytea not null,
    title text not null,
    url text,
    scope jsonb,
    digest bytea not null,
    revision integer not null,
    writer uuid,
    chunks integer not null,
    bytes integer not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    unique (agent_id, kind, key_digest)
  )`,
  `create table knowledge_chunks (
    id uuid primary key,
    organization_id uuid not null,
    agent_id uuid not null,
    document_id uuid not null references knowledge_documents (id) on delete cascade,
    position integer not null,
    heading text,
    page integer,
    text text not null,
    digest bytea not null,
    valid_from integer not null,
    valid_until integer not null default 2147483647
  )`,
  // Without the position: an update of it alone then leaves the indexes as they are.
  'create index knowledge_chunks_document on knowledge_chunks (document_id)',
  'create index knowledge_chunks_agent on knowledge_chunks (agent_id)',
]);

/** What waits to be sorted in is read whole by every search. */
const WORDS_INDEX =
  'create index knowledge_chunk_words_words on knowledge_chunk_words using gin (words) with (gin_pending_list_limit = 256)';

/**
 * The words of a chunk never change, and stand apart from what does: an update of a row in a GIN index adds all its
 * words anew. They stay in their row (`toast_tuple_target`), where a search reads a thousand of them.
 */
const keywords = migration('2026112311_knowledge_keywords', [
  `create table knowledge_vocabularies (
    agent_id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    number integer not null unique generated always as identity,
    chunks integer not null default 0,
    languages text[] not null default '{}'
  ) with (fillfactor = 50)`,
  `create table knowledge_terms (
    vocabulary integer not null,
    term text collate "C" not null,
    sampled integer not null default 0,
    primary key (vocabulary, term)
  )`,
  'create index knowledge_terms_reversed on knowledge_terms (vocabulary, (reverse(term) collate "C"))',
  `create table knowledge_chunk_words (
    chunk_id uuid primary key references knowledge_chunks (id) on delete cascade,
    sampled boolean not null,
    words tsvector not null
  ) with (toast_tuple_target = 8160)`,
  'alter table knowledge_chunk_words alter column words set storage main',
  WORDS_INDEX,
]);

/** Counts the times that words were removed: what a process knows of a vocabulary is right until then. */
const generation = migration('2026112312_knowledge_vocabulary_generation', [
  'alter table knowledge_vocabularies add column generation integer not null default 0',
]);

/** What tells of 256 parts of all chunks which one a chunk is in gives way to a word for each size of part (`partLexeme`). */
const parts = migration('2026112380_knowledge_parts', [
  // Made anew below: an update of every row would sort all words of all chunks in once more.
  'drop index knowledge_chunk_words_words',
  `update knowledge_chunk_words w set words = array_to_tsvector(array(
      select lexeme from unnest(tsvector_to_array(w.words)) lexeme where lexeme !~ '^[0-9]+#[0-9a-f]{2}$'
      union all select split_part(old.lexeme, '#', 1) || '#' || level
        from generate_series(1, 8) level where get_byte(decode(split_part(old.lexeme, '#', 2), 'hex'), 0) < 2 ^ (8 - level)))
     from knowledge_chunk_words o cross join lateral unnest(tsvector_to_array(o.words)) old(lexeme)
    where o.chunk_id = w.chunk_id and old.lexeme ~ '^[0-9]+#[0-9a-f]{2}$'`,
  WORDS_INDEX,
]);

/**
 * Postings by partition: all documents of an agent with the same scope. No foreign key leads from the postings: to check one for each
 * row would take a large part of the time of indexing. The columns of chunks that a former version writes are null.
 */
const postings = migration('2026112660_knowledge_postings', [
  `create table knowledge_partitions (
    id integer primary key generated always as identity,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null,
    scope jsonb not null,
    scope_digest bytea not null,
    next_number integer not null,
    languages text[] not null,
    unique (agent_id, scope_digest)
  ) with (fillfactor = 50)`,
  `create table knowledge_blocks (
    partition integer not null references knowledge_partitions (id) on delete cascade,
    block integer not null,
    lengths bytea not null,
    live integer not null,
    stored integer not null,
    primary key (partition, block)
  )`,
  `create table knowledge_postings (
    partition integer not null,
    block integer not null,
    term text collate "C" not null,
    postings bytea not null,
    primary key (partition, block, term)
  ) with (toast_tuple_target = 8160)`,
  // Added to with every document: compressing them each time takes longer than reading them whole.
  'alter table knowledge_postings alter column postings set storage external',
  'alter table knowledge_blocks alter column lengths set storage external',
  'alter table knowledge_chunks add column partition integer, add column number integer, add column length integer',
  'create index knowledge_blocks_sparse on knowledge_blocks (partition, block) where live * 2 < stored',
  'create unique index knowledge_chunks_number on knowledge_chunks (partition, number)',
  'create index knowledge_chunks_unplaced on knowledge_chunks (document_id) where number is null',
]);

export const knowledgeSchema: ContextSchema = {
  entities: [StoredDocument, StoredChunk, StoredPartition, StoredVocabulary],
  migrations: [init, keywords, generation, parts, postings],
};
