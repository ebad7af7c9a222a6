import { defineEntity, p } from '@mikro-orm/core';
import { createHash } from 'node:crypto';
import { type ContextSchema, CustomerJson, storableJson } from '../../../platform/database/index.js';
import type { DocumentScope, SourceKind } from '../domain/source-kind.js';

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
    scope: new CustomerJson<NonNullable<DocumentScope>>('knowledge_documents.scope').property().strictNullable(),
    /** Of everything from which its chunks are made. */
    digest: p.blob().columnType('bytea'),
    /** Decides which of its chunks searches find (`VISIBLE_CHUNK`). 0 before it has any, -1 (`REMOVED`) while it is being removed. */
    revision: p.integer(),
    /** The write that stores its chunks in several transactions. Each of them checks here that no later write has begun. */
    writer: p.uuid().strictNullable(),
    /** The number of visible chunks. */
    chunks: p.integer(),
    /** The size of their text. */
    bytes: p.integer(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/** The columns that the ORM needs. SQL reads and writes the others (`documents.sql.ts`). */
export const StoredChunk = defineEntity({
  name: 'StoredKnowledgeChunk',
  tableName: 'knowledge_chunks',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    documentId: p.uuid(),
    position: p.integer(),
    text: p.text(),
    /** Of the text that is embedded (`embeddedText`). */
    digest: p.blob().columnType('bytea'),
    /** The first revision of its document that shows it. */
    validFrom: p.integer(),
    /** The first later revision that does not show it. */
    validUntil: p.integer(),
  },
});

/** All documents of an agent with the same scope. SQL reads and writes its blocks and their postings (`postings.sql.ts`). */
export const StoredPartition = defineEntity({
  name: 'StoredKnowledgePartition',
  tableName: 'knowledge_partitions',
  properties: {
    id: p.integer().primary().autoincrement(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    scope: new CustomerJson<object>('knowledge_partitions.scope').property(),
    scopeDigest: p.blob().columnType('bytea'),
    /** The number of the next chunk. */
    nextNumber: p.integer(),
    languages: p.array(),
  },
});

/** The row that every writer of an agent's knowledge locks (`lockKnowledge`). A former version uses the other columns. */
export const StoredVocabulary = defineEntity({
  name: 'StoredKnowledgeVocabulary',
  tableName: 'knowledge_vocabularies',
  properties: { agentId: p.uuid().primary(), organizationId: p.uuid() },
});

export function keyDigest(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The form in which a partition stores the scope of its documents; all runs see `{}`. The digest is the same for entries in any order. */
export function indexedScope(scope: DocumentScope): { readonly json: string; readonly digest: string } {
  const entries = Object.entries(scope ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(entries)).digest('hex');
  return { json: storableJson(Object.fromEntries(entries)), digest };
}

/** Whether searches find a chunk `c` of a document `d`. The other chunks are still being written or removed. */
export const VISIBLE_CHUNK = 'd.revision >= c.valid_from and d.revision < c.valid_until';

/** No foreign key to the agent: a job removes an agent's documents in batches. */
const documents = [
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
  // A former version leaves `partition`, `number` and `length` null.
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
    valid_until integer not null default 2147483647,
    partition integer,
    number integer,
    length integer,
    anchor text
  )`,
  // Without the position, so that an update of it does not change the indexes.
  'create index knowledge_chunks_document on knowledge_chunks (document_id)',
  'create index knowledge_chunks_agent on knowledge_chunks (agent_id)',
  'create unique index knowledge_chunks_number on knowledge_chunks (partition, number)',
  'create index knowledge_chunks_unplaced on knowledge_chunks (document_id) where number is null',
];

/**
 * The words of a chunk never change. They are in a table of their own, because an update of a row adds all its words to a GIN index
 * again. `toast_tuple_target` keeps them in their row, because a search reads a thousand of them. `generation` counts the removals of
 * words, after which a process reads the vocabulary again.
 */
const keywords = [
  `create table knowledge_vocabularies (
    agent_id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    number integer not null unique generated always as identity,
    chunks integer not null default 0,
    languages text[] not null default '{}',
    generation integer not null default 0
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
  // Every search reads the whole pending list of the index, so the list is short.
  'create index knowledge_chunk_words_words on knowledge_chunk_words using gin (words) with (gin_pending_list_limit = 256)',
];

/** Postings by partition. They have no foreign key: its check for each row would take a large part of the time of indexing. */
const postings = [
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
  'create index knowledge_blocks_sparse on knowledge_blocks (partition, block) where live * 2 < stored',
  `create table knowledge_postings (
    partition integer not null,
    block integer not null,
    term text collate "C" not null,
    postings bytea not null,
    primary key (partition, block, term)
  ) with (toast_tuple_target = 8160)`,
  // Every document adds to them: compressing them each time takes longer than reading them uncompressed.
  'alter table knowledge_postings alter column postings set storage external',
  'alter table knowledge_blocks alter column lengths set storage external',
];

export const knowledgeSchema: ContextSchema = {
  entities: [StoredDocument, StoredChunk, StoredPartition, StoredVocabulary],
  base: [...documents, ...keywords, ...postings],
};
