import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import {
  type ColumnsOf,
  Database,
  queryBuilder,
  rowsOf,
  type SqlExecutor,
  storableText,
  type Transaction,
} from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { DocumentKey, IndexedSource } from '../application/indexing/indexed-document.js';
import type { AnalyzedChunk, PreparedDocument } from '../application/indexing/prepared-document.js';
import type { SourceKind, StoreUsage } from '../domain/source-kind.js';
import { type ChangedChunk, type ChunkRow, type DocumentRow, REMOVED, VALID_FOR_GOOD } from '../domain/write-plan.js';
import {
  CHANGE_CHUNKS,
  DELETE_CHUNKS,
  INSERT_CHUNKS,
  PLACES,
  READ_DOCUMENT,
  SHOW_NEW_DOCUMENT,
  SHOW_NEXT_REVISION,
} from './documents.sql.js';
import { indexedScopeOf } from './indexed-scope.js';
import { keyDigest, StoredChunk, StoredDocument } from './knowledge.schema.js';
import { lockPartition, placeChunks, type PlacedChunk, termParameters } from './postings.sql.js';

export interface SeenDocument {
  readonly document: DocumentRow | null;
  /** Left out where the document has the digest that was asked for. */
  readonly chunks: readonly ChunkRow[];
}

const tables = queryBuilder<{ knowledge_documents: ColumnsOf<typeof StoredDocument> }>();

/** Documents with their chunks. What writes one, `claim` aside, must hold the agent's lock (`lockAgent`); `showAtOnce` takes it. */
@Injectable()
export class DocumentRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async read(
    { organizationId, agentId, kind, key, scope }: IndexedSource,
    digest: string,
    executor: SqlExecutor = this.database,
  ): Promise<SeenDocument> {
    const asked = {
      organizationId,
      agentId,
      kind,
      keyDigest: keyDigest(key),
      digest,
      scopeDigest: indexedScopeOf(scope).digest,
    };
    const [row] = await READ_DOCUMENT.run<DocumentRow & { readonly chunks: string | null }>(executor, asked);
    if (!row) return { document: null, chunks: [] };
    const { chunks, ...document } = row;
    return { document, chunks: chunks === null ? [] : (JSON.parse(chunks) as ChunkRow[]) };
  }

  /** @param transaction that holds the document until its end; without one it is read as it stands */
  async find(
    { organizationId, agentId, kind, key }: DocumentKey,
    transaction?: Transaction,
  ): Promise<DocumentRow | null> {
    const where = { organizationId, agentId, kind, keyDigest: keyDigest(key) };
    const lock = transaction && { lockMode: LockMode.PESSIMISTIC_WRITE };
    const found = await (transaction ?? this.database).read((em) =>
      em.findOne(StoredDocument, where, {
        fields: ['id', 'digest', 'revision', 'writer'],
        disableIdentityMap: true,
        ...lock,
      }),
    );
    return (
      found && {
        id: found.id,
        digest: Buffer.from(found.digest).toString('hex'),
        revision: found.revision,
        writer: found.writer,
      }
    );
  }

  /** Without chunks yet, and unseen. */
  async insert(
    { em }: Transaction,
    { id = newId(), organizationId, agentId, kind, key, url }: IndexedSource,
    { title }: PreparedDocument,
  ): Promise<DocumentRow> {
    const [document, now] = [{ id, revision: 0, writer: null }, this.clock.now()];
    const named = {
      organizationId,
      agentId,
      kind,
      key: storableText(key),
      keyDigest: keyDigest(key),
      title,
      url,
      scope: null,
    };
    await em.insert(StoredDocument, {
      ...document,
      ...named,
      digest: Buffer.alloc(0),
      chunks: 0,
      bytes: 0,
      createdAt: now,
      updatedAt: now,
    });
    return { ...document, digest: '' };
  }

  async claim({ em }: Transaction, organizationId: string, id: string, writer: string): Promise<void> {
    await em.nativeUpdate(StoredDocument, { organizationId, id }, { writer });
  }

  /** Chunks of the next revision of a document; no search finds them before it. */
  async insertChunks(
    transaction: Transaction,
    source: IndexedSource,
    prepared: PreparedDocument,
    document: DocumentRow,
    chunks: readonly AnalyzedChunk[],
  ): Promise<void> {
    const added = await this.newChunks(transaction, source, prepared, chunks, document.revision + 1, false);
    await INSERT_CHUNKS.run(transaction, { ...added, id: document.id });
  }

  /**
   * Stores a document that was not there, or its next revision, with its new chunks.
   * @param seen the document as it was when its new chunks were planned; null where it was not there
   * @returns its id; null where it is not as it was seen: the transaction must not commit then
   */
  async showAtOnce(
    transaction: Transaction,
    source: IndexedSource,
    prepared: PreparedDocument,
    seen: DocumentRow | null,
    chunks: readonly AnalyzedChunk[],
  ): Promise<string | null> {
    const { kind, key, url, scope } = source;
    const { title, bytes } = prepared;
    const added = await this.newChunks(transaction, source, prepared, chunks, (seen?.revision ?? 0) + 1, true);
    const id = seen?.id ?? source.id ?? newId();
    const shown = {
      id,
      title,
      url,
      scope,
      digest: Buffer.from(prepared.digest, 'hex'),
      chunks: prepared.chunks.length,
      bytes,
      now: this.clock.now(),
    };
    const [row] = seen
      ? await SHOW_NEXT_REVISION.run<{ id: string }>(transaction, { ...added, ...shown, seenRevision: seen.revision })
      : await SHOW_NEW_DOCUMENT.run<{ id: string }>(transaction, {
          ...added,
          ...shown,
          kind,
          key: storableText(key),
          keyDigest: keyDigest(key),
        });
    return row?.id ?? null;
  }

  /** Reserves numbers for the chunks, which takes the agent's lock. */
  private async newChunks(
    transaction: Transaction,
    { organizationId, agentId, scope }: IndexedSource,
    { language }: PreparedDocument,
    chunks: readonly AnalyzedChunk[],
    validFrom: number,
    isVisible: boolean,
  ) {
    const partition = await lockPartition(
      transaction,
      { organizationId, agentId },
      { scope: indexedScopeOf(scope), chunks: chunks.length, language },
    );
    const numbered = chunks.map((chunk, index) => ({ ...chunk, number: partition.firstNumber + index }));
    const rows = numbered.map(({ terms, ...chunk }) => ({ ...chunk, id: newId(), length: terms.length }));
    return { organizationId, agentId, validFrom, rows, ...termParameters(partition.id, numbered, isVisible) };
  }

  /** Makes the next revision the one that is seen, and has keywords find its chunks. */
  async showNext(
    transaction: Transaction,
    { organizationId, url, scope }: IndexedSource,
    prepared: PreparedDocument,
    { id, revision }: DocumentRow,
  ): Promise<void> {
    const { title, digest, bytes } = prepared;
    const shown = {
      title,
      url,
      scope,
      digest: Buffer.from(digest, 'hex'),
      chunks: prepared.chunks.length,
      bytes,
      updatedAt: this.clock.now(),
    };
    await transaction.em.nativeUpdate(
      StoredDocument,
      { organizationId, id },
      { ...shown, revision: revision + 1, writer: null },
    );
    await this.placeAll(transaction, organizationId, id);
  }

  /** From the commit on no search finds it, and another writer of it finds out. */
  async hide(transaction: Transaction, organizationId: string, id: string): Promise<void> {
    const hidden = { revision: REMOVED, writer: null, chunks: 0, bytes: 0 };
    const changed = await transaction.em.nativeUpdate(
      StoredDocument,
      { organizationId, id, revision: { $ne: REMOVED } },
      hidden,
    );
    if (changed > 0) await this.placeAll(transaction, organizationId, id);
  }

  /** Does nothing where the document has another revision by now. */
  async delete({ em }: Transaction, organizationId: string, id: string, revision: number): Promise<void> {
    await em.nativeDelete(StoredDocument, { organizationId, id, revision });
  }

  /** At most `limit` chunks that are not valid in the revision: any of them where that is `REMOVED`. */
  async outdatedChunks(
    { em }: Transaction,
    organizationId: string,
    documentId: string,
    revision: number,
    limit: number,
  ): Promise<string[]> {
    const where = {
      organizationId,
      documentId,
      $or: [{ validFrom: { $gt: revision } }, { validUntil: { $lte: revision } }],
    };
    return (await em.find(StoredChunk, where, { fields: ['id'], limit, disableIdentityMap: true })).map(({ id }) => id);
  }

  async changeChunks(
    transaction: Transaction,
    organizationId: string,
    documentId: string,
    chunks: readonly ChangedChunk[],
  ): Promise<void> {
    await CHANGE_CHUNKS.run(transaction, { organizationId, documentId, chunks, validUntil: VALID_FOR_GOOD });
  }

  /** They are seen until the document's next revision. */
  async endChunks(
    { em }: Transaction,
    organizationId: string,
    { id, revision }: DocumentRow,
    ids: readonly string[],
  ): Promise<void> {
    await em.nativeUpdate(
      StoredChunk,
      { organizationId, documentId: id, id: { $in: [...ids] } },
      { validUntil: revision + 1 },
    );
  }

  async deleteChunks(
    transaction: Transaction,
    organizationId: string,
    documentId: string,
    ids: readonly string[],
  ): Promise<void> {
    if (ids.length === 0) return;
    const deleted = await DELETE_CHUNKS.run<Pick<PlacedChunk, 'partition' | 'number'> | { partition: null }>(
      transaction,
      { organizationId, documentId, ids },
    );
    await placeChunks(
      transaction,
      deleted.flatMap((chunk) => (chunk.partition === null ? [] : [{ ...chunk, length: 0, isVisible: false }])),
    );
  }

  private async placeAll(transaction: Transaction, organizationId: string, documentId: string): Promise<void> {
    await placeChunks(transaction, await PLACES.run<PlacedChunk>(transaction, { organizationId, documentId }));
  }

  /** @returns null where the organization has no such document */
  async agentOf(organizationId: string, id: string): Promise<string | null> {
    const found = await this.database.read((em) =>
      em.findOne(StoredDocument, { organizationId, id }, { fields: ['agentId'] }),
    );
    return found?.agentId ?? null;
  }

  /** Ids of documents of any kind, at most `limit`, in no order. */
  async idsOf(organizationId: string, agentId: string, limit: number): Promise<string[]> {
    return (
      await this.database.read((em) => em.find(StoredDocument, { organizationId, agentId }, { fields: ['id'], limit }))
    ).map(({ id }) => id);
  }

  async usageOf(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage> {
    const sums = tables
      .selectFrom('knowledge_documents')
      .select(({ fn }) => [fn.sum<string | null>('chunks').as('chunks'), fn.sum<string | null>('bytes').as('bytes')])
      .where('organization_id', '=', organizationId)
      .where('agent_id', '=', agentId)
      .where('kind', '=', kind);
    const [row] = await rowsOf(this.database, sums);
    return { chunks: Number(row?.chunks), bytes: Number(row?.bytes) };
  }

  async hasChunks(organizationId: string, agentId: string): Promise<boolean> {
    return (
      (await this.database.read((em) =>
        em.findOne(StoredDocument, { organizationId, agentId, chunks: { $gt: 0 } }, { fields: ['id'] }),
      )) !== null
    );
  }
}
