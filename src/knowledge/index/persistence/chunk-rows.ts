import { type SqlExecutor, storableJson, storableText } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { IndexedSource } from '../application/indexing/document-index.js';
import { type DocumentRow, keyDigest } from './document-rows.js';
import type { PreparedChunk, PreparedDocument } from '../application/indexing/prepared-document.js';
import type { ChunkTerms } from '../domain/chunk-terms.js';
import { insertTermsParameters, insertTermsSql, type Partition } from './postings.sql.js';

export interface ChunkToInsert {
  readonly chunk: PreparedChunk;
  readonly terms: ChunkTerms;
}

/** Chunks of a document's next revision. */
export interface ChunksToInsert {
  /** With as many numbers reserved. */
  readonly partition: Partition;
  readonly chunks: readonly ChunkToInsert[];
}

/** A statement that yields the document's id, with parameters from `FIRST_OWN` on. Where it yields none, the transaction must not commit. */
interface DocumentSql {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

const FIRST_OF_TERMS = 5;
const FIRST_OWN = 11;

/** Of a document that others see no other revision of meanwhile. */
export async function insertChunks(transaction: SqlExecutor, source: IndexedSource, document: DocumentRow, given: ChunksToInsert): Promise<void> {
  await insert(transaction, source, document.revision + 1, given, false, { sql: `select $${FIRST_OWN}::uuid as id`, parameters: [document.id] });
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
  return insert(transaction, source, (seen?.revision ?? 0) + 1, given, true, document);
}

const NEXT_REVISION = `update knowledge_documents set revision = revision + 1, title = $11::text, url = $12::text, scope = $13::text::jsonb, digest = decode($14::text, 'hex'),
    chunks = $15::integer, bytes = $16::integer, updated_at = $17::timestamptz
  where organization_id = $1::uuid and id = $18::uuid and revision = $19::integer and writer is null returning id`;

const NEW_DOCUMENT = `insert into knowledge_documents
    (id, organization_id, agent_id, kind, key, key_digest, title, url, scope, digest, revision, chunks, bytes, created_at, updated_at)
  values ($18::uuid, $1::uuid, $2::uuid, $19::text, $20::text, decode($21::text, 'hex'), $11::text, $12::text, $13::text::jsonb, decode($14::text, 'hex'), 1,
    $15::integer, $16::integer, $17::timestamptz, $17::timestamptz)
  on conflict (agent_id, kind, key_digest) do nothing returning id`;

async function insert(
  transaction: SqlExecutor,
  { organizationId, agentId }: IndexedSource,
  validFrom: number,
  { partition, chunks }: ChunksToInsert,
  isVisible: boolean,
  document: DocumentSql,
): Promise<string | null> {
  const numbered = chunks.map(({ terms }, index) => ({ number: partition.firstNumber + index, terms }));
  const rows = chunks.map(({ chunk: { position, heading, anchor, page, text, digest }, terms }, index) => {
    return { id: newId(), position, heading, anchor, page, text, digest, number: partition.firstNumber + index, length: terms.length };
  });
  const [row] = await transaction.query<{ id: string }>(
    `with document as (${document.sql}),
     chunks as (
       insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, heading, anchor, page, text, digest, valid_from, partition, number, length)
       select t.id, $1::uuid, $2::uuid, document.id, t.position, t.heading, t.anchor, t.page, t.text, decode(t.digest, 'hex'), $4::integer, $${FIRST_OF_TERMS}::integer, t.number, t.length
         from document, jsonb_to_recordset($3::text::jsonb)
           as t(id uuid, position integer, heading text, anchor text, page integer, text text, digest text, number integer, length integer)),
     ${insertTermsSql(FIRST_OF_TERMS)}
     select id::text as id from document`,
    [organizationId, agentId, JSON.stringify(rows), validFrom, ...insertTermsParameters(partition.id, numbered, isVisible), ...document.parameters],
  );
  return row?.id ?? null;
}
