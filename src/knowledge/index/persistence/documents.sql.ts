/**
 * Hot path: every page of a crawl, file and upload passes these statements. The embedded database takes longer to begin a statement than
 * to carry it out, so that a document is read with its chunks in one, and stored with its new chunks and their terms in one.
 */
import { type SqlExecutor, statement, storableJson, storableText } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { IndexedSource } from '../application/indexing/indexed-document.js';
import type { AnalyzedChunk, PreparedDocument } from '../application/indexing/prepared-document.js';
import type { DocumentRow } from '../domain/write-plan.js';
import { indexedScopeOf } from './indexed-scope.js';
import { keyDigest, VISIBLE_CHUNK } from './knowledge.schema.js';
import { insertTermsParameters, insertTermsSql, lockPartition } from './postings.sql.js';

/** `chunks` is the JSON of `ChunkRow[]`; null where there are none, and where the document has the digest already. */
export const READ_DOCUMENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', kind: 'text', keyDigest: 'bytea', digest: 'text', scopeDigest: 'text' },
  (p) => `
  select d.id::text as id, encode(d.digest, 'hex') as digest, d.revision, d.writer::text as writer,
         case when d.digest <> decode(${p.digest}, 'hex') then (
           select json_agg(json_build_object('id', c.id, 'digest', encode(c.digest, 'hex'), 'position', c.position, 'anchor', c.anchor, 'page', c.page,
                    'validFrom', c.valid_from, 'validUntil', c.valid_until, 'isPlaced', coalesce(p.scope_digest = decode(${p.scopeDigest}, 'hex'), false)) order by c.position, c.id)
             from knowledge_chunks c left join knowledge_partitions p on p.id = c.partition
            where c.organization_id = ${p.organizationId} and c.document_id = d.id)::text end as chunks
    from knowledge_documents d
   where d.organization_id = ${p.organizationId} and d.agent_id = ${p.agentId} and d.kind = ${p.kind} and d.key_digest = ${p.keyDigest}`,
);

/** Where keywords find the chunks of a document, and whether the document shows them. */
export const PLACES = statement(
  { organizationId: 'uuid', documentId: 'uuid' },
  (p) => `
  select c.partition, c.number, c.length, ${VISIBLE_CHUNK} as "isVisible" from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId} and c.document_id = ${p.documentId} and c.number is not null`,
);

/** @param chunks JSON of `ChangedChunk[]`, which are seen from the next revision on */
export const CHANGE_CHUNKS = statement(
  { organizationId: 'uuid', documentId: 'uuid', chunks: 'jsonb', validUntil: 'integer' },
  (p) => `
  update knowledge_chunks c set position = t.position, anchor = t.anchor, page = t.page, valid_until = ${p.validUntil}
    from jsonb_to_recordset(${p.chunks}) as t(id uuid, position integer, anchor text, page integer)
   where c.organization_id = ${p.organizationId} and c.document_id = ${p.documentId} and c.id = t.id`,
);

export const DELETE_CHUNKS = statement(
  { organizationId: 'uuid', documentId: 'uuid', ids: 'uuid[]' },
  (p) => `
  delete from knowledge_chunks where organization_id = ${p.organizationId} and document_id = ${p.documentId} and id = any(${p.ids})
  returning partition, number`,
);

/** What is stored with new chunks: a statement that yields the document's id, whose own parameters are from `$11` on. */
const withDocument = (document: string): string => `
  with document as (${document}),
  chunks as (
    insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, heading, anchor, page, text, digest, valid_from, partition, number, length)
    select t.id, $1::uuid, $2::uuid, document.id, t.position, t.heading, t.anchor, t.page, t.text, decode(t.digest, 'hex'), $4::integer, $5::integer, t.number, t.length
      from document, jsonb_to_recordset($3::text::jsonb)
        as t(id uuid, position integer, heading text, anchor text, page integer, text text, digest text, number integer, length integer)),
  ${insertTermsSql(5)}
  select id::text as id from document`;

const INSERT_CHUNKS = withDocument('select $11::uuid as id');

const SHOW_NEXT_REVISION = withDocument(`
  update knowledge_documents set revision = revision + 1, title = $11::text, url = $12::text, scope = $13::text::jsonb, digest = decode($14::text, 'hex'),
         chunks = $15::integer, bytes = $16::integer, updated_at = $17::timestamptz
   where organization_id = $1::uuid and id = $18::uuid and revision = $19::integer and writer is null returning id`);

const SHOW_NEW_DOCUMENT = withDocument(`
  insert into knowledge_documents (id, organization_id, agent_id, kind, key, key_digest, title, url, scope, digest, revision, chunks, bytes, created_at, updated_at)
  values ($18::uuid, $1::uuid, $2::uuid, $19::text, $20::text, $21::bytea, $11::text, $12::text, $13::text::jsonb, decode($14::text, 'hex'), 1,
          $15::integer, $16::integer, $17::timestamptz, $17::timestamptz)
  on conflict (agent_id, kind, key_digest) do nothing returning id`);

/** Chunks of the next revision of a document, which nobody sees before it. */
export async function insertChunks(
  transaction: SqlExecutor,
  source: IndexedSource,
  { language }: PreparedDocument,
  { id, revision }: DocumentRow,
  chunks: readonly AnalyzedChunk[],
): Promise<void> {
  await transaction.query(INSERT_CHUNKS, [...(await chunkParameters(transaction, source, language, chunks, revision + 1, false)), id]);
}

/**
 * A document that was not there, or its next revision, with its new chunks.
 * @param seen the document as it was when its new chunks were planned; null where it was not there
 * @returns its id; null where it is not as it was seen: the transaction must not commit then
 */
export async function showWithChunks(
  transaction: SqlExecutor,
  source: IndexedSource,
  prepared: PreparedDocument,
  seen: DocumentRow | null,
  added: readonly AnalyzedChunk[],
  now: Date,
): Promise<string | null> {
  const scope = source.scope === null ? null : storableJson(source.scope);
  const shown = [prepared.title, source.url, scope, prepared.digest, prepared.chunks.length, prepared.bytes, now.toISOString()];
  const own = seen ? [seen.id, seen.revision] : [source.id ?? newId(), source.kind, storableText(source.key), keyDigest(source.key)];
  const chunks = await chunkParameters(transaction, source, prepared.language, added, (seen?.revision ?? 0) + 1, true);
  const [row] = await transaction.query<{ id: string }>(seen ? SHOW_NEXT_REVISION : SHOW_NEW_DOCUMENT, [...chunks, ...shown, ...own]);
  return row?.id ?? null;
}

/** Reserves numbers for the chunks, which takes the agent's lock. */
async function chunkParameters(
  transaction: SqlExecutor,
  source: IndexedSource,
  language: string | null,
  chunks: readonly AnalyzedChunk[],
  validFrom: number,
  isVisible: boolean,
): Promise<unknown[]> {
  const partition = await lockPartition(transaction, source, { scope: indexedScopeOf(source.scope), chunks: chunks.length, language });
  const numbered = chunks.map((chunk, index) => ({ ...chunk, number: partition.firstNumber + index }));
  const rows = numbered.map(({ terms, ...chunk }) => ({ ...chunk, id: newId(), length: terms.length }));
  return [source.organizationId, source.agentId, JSON.stringify(rows), validFrom, ...insertTermsParameters(partition.id, numbered, isVisible)];
}
