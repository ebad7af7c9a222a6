import { type SqlExecutor, storableJson, storableText } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { IndexedSource } from '../application/indexing/document-index.js';
import { type DocumentRow, keyDigest } from './document-rows.js';
import type { IndexedWords, PreparedChunk, PreparedDocument } from '../application/indexing/prepared-document.js';
import { lexemesOf, type Vocabulary } from './vocabulary.js';

export interface ChunkToInsert {
  readonly chunk: PreparedChunk;
  readonly words: IndexedWords;
}

/** Chunks of a document's next revision. */
export interface ChunksToInsert {
  readonly vocabulary: Vocabulary;
  readonly chunks: readonly ChunkToInsert[];
  /** Words that the vocabulary may be without. */
  readonly terms: readonly string[];
}

/** A statement that yields the document's id, with parameters from `FIRST_OWN` on. */
interface DocumentSql {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

const FIRST_OWN = 7;

/** Of a document that others see no other revision of meanwhile. */
export async function insertChunks(transaction: SqlExecutor, source: IndexedSource, document: DocumentRow, given: ChunksToInsert): Promise<void> {
  await insert(transaction, source, document.revision + 1, given, { sql: `select $${FIRST_OWN}::uuid as id`, parameters: [document.id] });
}

/**
 * A document that was not there, or its next revision, with new chunks: one statement, since the embedded database takes
 * longer to begin one than to carry it out.
 * @param seen the document as it was when its new chunks were planned; null where it was not there
 * @returns its id; null where it is not as it was seen
 */
export async function showWithChunks(
  transaction: SqlExecutor,
  source: IndexedSource,
  prepared: PreparedDocument,
  seen: DocumentRow | null,
  given: ChunksToInsert,
  now: Date,
): Promise<string | null> {
  const scope = source.scope === null ? null : storableJson(source.scope);
  const shared = [prepared.title, source.url, scope, prepared.digest.toString('hex'), prepared.chunks.length, prepared.bytes, now.toISOString()];
  const document = seen
    ? { sql: NEXT_REVISION, parameters: [...shared, seen.id, seen.revision] }
    : { sql: NEW_DOCUMENT, parameters: [...shared, source.id ?? newId(), source.kind, storableText(source.key), keyDigest(source.key)] };
  return insert(transaction, source, (seen?.revision ?? 0) + 1, given, document);
}

const NEXT_REVISION = `update knowledge_documents set revision = revision + 1, title = $7::text, url = $8::text, scope = $9::text::jsonb, digest = decode($10::text, 'hex'),
    chunks = $11::integer, bytes = $12::integer, updated_at = $13::timestamptz
  where organization_id = $1::uuid and id = $14::uuid and revision = $15::integer and writer is null returning id`;

const NEW_DOCUMENT = `insert into knowledge_documents
    (id, organization_id, agent_id, kind, key, key_digest, title, url, scope, digest, revision, chunks, bytes, created_at, updated_at)
  values ($14::uuid, $1::uuid, $2::uuid, $15::text, $16::text, decode($17::text, 'hex'), $7::text, $8::text, $9::text::jsonb, decode($10::text, 'hex'), 1,
    $11::integer, $12::integer, $13::timestamptz, $13::timestamptz)
  on conflict (agent_id, kind, key_digest) do nothing returning id`;

async function insert(
  transaction: SqlExecutor,
  { organizationId, agentId }: IndexedSource,
  validFrom: number,
  { vocabulary, chunks, terms }: ChunksToInsert,
  document: DocumentSql,
): Promise<string | null> {
  const rows = chunks.map(({ chunk: { position, heading, page, text, digest }, words }) => {
    return { id: newId(), position, heading, page, text, digest, sampled: words.sampled, words: lexemesOf(vocabulary, words).join(' ') };
  });
  const [row] = await transaction.query<{ id: string }>(
    `with document as (${document.sql}),
     given as materialized (
       select t.*, document.id as document_id from document, jsonb_to_recordset($3::text::jsonb)
         as t(id uuid, position integer, heading text, page integer, text text, digest text, sampled boolean, words text)),
     chunks as (
       insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, heading, page, text, digest, valid_from)
       select id, $1::uuid, $2::uuid, document_id, position, heading, page, text, decode(digest, 'hex'), $4::integer from given),
     words as (
       insert into knowledge_chunk_words (chunk_id, sampled, words)
       select id, sampled, array_to_tsvector(string_to_array(words, ' ')) from given),
     terms as (
       insert into knowledge_terms (vocabulary, term)
       select $5::integer, term from document, unnest(string_to_array($6::text, ' ')) as t(term) on conflict do nothing)
     select id::text as id from document`,
    [organizationId, agentId, JSON.stringify(rows), validFrom, vocabulary.number, terms.toSorted().join(' '), ...document.parameters],
  );
  return row?.id ?? null;
}
