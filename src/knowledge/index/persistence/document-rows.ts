import { createHash } from 'node:crypto';
import { type SqlExecutor, storableJson, storableText } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { uuids } from './arrays.js';
import { placeChunks, type PlacedChunk } from './postings.sql.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';
import { indexedScopeOf } from './indexed-scope.js';
import type { DocumentKey, IndexedSource } from '../application/indexing/document-index.js';
import type { PreparedDocument } from '../application/indexing/prepared-document.js';
import { type ChangedChunk, type ChunkRow, VALID_FOR_GOOD } from '../domain/write-plan.js';

/** A document as it is stored. */
export interface DocumentRow {
  readonly id: string;
  readonly digest: string;
  readonly revision: number;
  readonly writer: string | null;
}

/** The revision of a document whose chunks are being removed: none of them is seen in it. */
export const REMOVED = -1;

export function keyDigest(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

export async function findDocument(executor: SqlExecutor, { organizationId, agentId, kind, key }: DocumentKey, lock = false): Promise<DocumentRow | null> {
  const [row] = await executor.query<DocumentRow>(
    `select id::text as id, encode(digest, 'hex') as digest, revision, writer::text as writer from knowledge_documents
      where organization_id = $1::uuid and agent_id = $2::uuid and kind = $3::text and key_digest = decode($4::text, 'hex') ${lock ? 'for update' : ''}`,
    [organizationId, agentId, kind, keyDigest(key)],
  );
  return row ?? null;
}

export interface SeenDocument {
  readonly document: DocumentRow | null;
  /** Left out where the document has the digest that was asked for. */
  readonly chunks: readonly ChunkRow[];
}

/** A document with its chunks, in one statement. */
export async function readDocument(executor: SqlExecutor, { organizationId, agentId, kind, key, scope }: IndexedSource, digest: string): Promise<SeenDocument> {
  const [row] = await executor.query<DocumentRow & { readonly chunks: string | null }>(
    `select id::text as id, encode(digest, 'hex') as digest, revision, writer::text as writer,
            case when digest <> decode($5::text, 'hex') then (select json_agg(json_build_object('id', c.id, 'digest', encode(c.digest, 'hex'),
              'position', c.position, 'anchor', c.anchor, 'page', c.page, 'validFrom', c.valid_from, 'validUntil', c.valid_until,
              'isPlaced', coalesce(p.scope_digest = decode($6::text, 'hex'), false)) order by c.position, c.id)
              from knowledge_chunks c left join knowledge_partitions p on p.id = c.partition where c.organization_id = $1::uuid and c.document_id = d.id)::text end as chunks
       from knowledge_documents d
      where organization_id = $1::uuid and agent_id = $2::uuid and kind = $3::text and key_digest = decode($4::text, 'hex')`,
    [organizationId, agentId, kind, keyDigest(key), digest, indexedScopeOf(scope).digest],
  );
  if (!row) return { document: null, chunks: [] };
  const { chunks, ...document } = row;
  return { document, chunks: chunks === null ? [] : (JSON.parse(chunks) as ChunkRow[]) };
}

/** Without chunks yet, and unseen. The transaction must have looked for it under the agent's lock. */
export async function insertDocument(transaction: SqlExecutor, source: IndexedSource, now: Date): Promise<DocumentRow> {
  const id = source.id ?? newId();
  await transaction.query(
    `insert into knowledge_documents (id, organization_id, agent_id, kind, key, key_digest, title, url, digest, revision, chunks, bytes, created_at, updated_at)
     values ($1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, decode($6::text, 'hex'), $7::text, $8::text, '', 0, 0, 0, $9::timestamptz, $9::timestamptz)`,
    [id, source.organizationId, source.agentId, source.kind, storableText(source.key), keyDigest(source.key), storableText(source.title), source.url, now.toISOString()],
  );
  return { id, digest: '', revision: 0, writer: null };
}

export async function claimDocument(transaction: SqlExecutor, organizationId: string, id: string, writer: string): Promise<void> {
  await transaction.query('update knowledge_documents set writer = $3::uuid where organization_id = $1::uuid and id = $2::uuid', [organizationId, id, writer]);
}

/** Makes the next revision the one that is seen. */
export async function showRevision(transaction: SqlExecutor, id: string, source: IndexedSource, prepared: PreparedDocument, now: Date): Promise<void> {
  await transaction.query(
    `update knowledge_documents set revision = revision + 1, writer = null, title = $2::text, url = $3::text, scope = $4::text::jsonb, digest = decode($5::text, 'hex'),
            chunks = $6::integer, bytes = $7::integer, updated_at = $8::timestamptz where id = $1::uuid and organization_id = $9::uuid`,
    [
      ...[id, prepared.title, source.url, source.scope === null ? null : storableJson(source.scope), prepared.digest.toString('hex')],
      ...[prepared.chunks.length, prepared.bytes, now.toISOString(), source.organizationId],
    ],
  );
}

/** From the commit on no search finds it, and another writer of it finds out. */
export async function hideDocument(transaction: SqlExecutor, organizationId: string, id: string): Promise<void> {
  const hidden = await transaction.query(
    `update knowledge_documents set revision = $3::integer, writer = null, chunks = 0, bytes = 0
      where organization_id = $1::uuid and id = $2::uuid and revision <> $3::integer returning id`,
    [organizationId, id, REMOVED],
  );
  if (hidden.length > 0) await placeAll(transaction, organizationId, id);
}

/** Makes keywords find those chunks that the document shows. */
export async function placeAll(transaction: SqlExecutor, organizationId: string, documentId: string): Promise<void> {
  const chunks = await transaction.query<PlacedChunk>(
    `select c.partition, c.number, c.length, ${VISIBLE_CHUNK} as "isVisible" from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
      where c.organization_id = $1::uuid and c.document_id = $2::uuid and c.number is not null`,
    [organizationId, documentId],
  );
  await placeChunks(transaction, chunks);
}

/** Does nothing where the document has another revision by now. */
export async function deleteDocument(transaction: SqlExecutor, organizationId: string, id: string, revision: number): Promise<void> {
  await transaction.query('delete from knowledge_documents where organization_id = $1::uuid and id = $2::uuid and revision = $3::integer', [organizationId, id, revision]);
}

/** @returns null where the organization has no such document */
export async function agentOf(executor: SqlExecutor, organizationId: string, documentId: string): Promise<string | null> {
  const [row] = await executor.query<{ agentId: string }>(
    'select agent_id::text as "agentId" from knowledge_documents where organization_id = $1::uuid and id = $2::uuid',
    [organizationId, documentId],
  );
  return row?.agentId ?? null;
}

export function chunksOfDocument(executor: SqlExecutor, { organizationId, scope }: IndexedSource, documentId: string): Promise<ChunkRow[]> {
  return executor.query<ChunkRow>(
    `select c.id::text as id, encode(c.digest, 'hex') as digest, c.position, c.anchor, c.page, c.valid_from as "validFrom", c.valid_until as "validUntil",
            coalesce(p.scope_digest = decode($3::text, 'hex'), false) as "isPlaced"
       from knowledge_chunks c left join knowledge_partitions p on p.id = c.partition
      where c.organization_id = $1::uuid and c.document_id = $2::uuid order by c.position, c.id`,
    [organizationId, documentId, indexedScopeOf(scope).digest],
  );
}

/** At most `limit` of those that are not valid in the revision: all of them where that is `REMOVED`. */
export async function outdatedChunks(executor: SqlExecutor, organizationId: string, documentId: string, revision: number, limit: number): Promise<string[]> {
  const rows = await executor.query<{ id: string }>(
    `select id::text as id from knowledge_chunks
      where organization_id = $1::uuid and document_id = $2::uuid and ($3::integer < valid_from or $3::integer >= valid_until) limit $4::integer`,
    [organizationId, documentId, revision, limit],
  );
  return rows.map(({ id }) => id);
}

export async function changeChunks(transaction: SqlExecutor, organizationId: string, documentId: string, changed: readonly ChangedChunk[]): Promise<void> {
  await transaction.query(
    `update knowledge_chunks c set position = t.position, anchor = t.anchor, page = t.page, valid_until = $3::integer
       from jsonb_to_recordset($2::text::jsonb) as t(id uuid, position integer, anchor text, page integer)
      where c.organization_id = $4::uuid and c.id = t.id and c.document_id = $1::uuid`,
    [documentId, JSON.stringify(changed), VALID_FOR_GOOD, organizationId],
  );
}

/** They are seen until the document's next revision. */
export async function endChunks(transaction: SqlExecutor, organizationId: string, document: DocumentRow, ids: readonly string[]): Promise<void> {
  await transaction.query(
    'update knowledge_chunks set valid_until = $4::integer where organization_id = $1::uuid and document_id = $2::uuid and id = any($3::text::uuid[])',
    [organizationId, document.id, uuids(ids), document.revision + 1],
  );
}

export async function deleteChunks(transaction: SqlExecutor, organizationId: string, documentId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const deleted = await transaction.query<Pick<PlacedChunk, 'partition' | 'number'> | { partition: null }>(
    'delete from knowledge_chunks where organization_id = $1::uuid and document_id = $2::uuid and id = any($3::text::uuid[]) returning partition, number',
    [organizationId, documentId, uuids(ids)],
  );
  await placeChunks(transaction, deleted.flatMap((chunk) => (chunk.partition === null ? [] : [{ ...chunk, length: 0, isVisible: false }])));
}
