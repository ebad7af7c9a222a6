import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type SqlExecutor, storableText, type Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { DocumentKey, IndexedSource } from '../application/indexing/indexed-document.js';
import type { AnalyzedChunk, PreparedDocument } from '../application/indexing/prepared-document.js';
import type { SourceKind, StoreUsage } from '../domain/source-kind.js';
import { type ChangedChunk, type ChunkRow, type DocumentRow, REMOVED, VALID_FOR_GOOD } from '../domain/write-plan.js';
import {
  CHANGE_CHUNKS,
  DELETE_CHUNKS,
  INSERT_CHUNKS,
  MEASURE_USAGE,
  READ_DOCUMENT,
  READ_PLACES,
  SHOW_NEW_DOCUMENT,
  SHOW_NEXT_REVISION,
} from './documents.sql.js';
import { indexedScope } from './indexed-scope.js';
import { keyDigest, StoredChunk, StoredDocument } from './knowledge.schema.js';
import { reserveNumbers, updatePlaces, type PlacedChunk, termParameters } from './postings.sql.js';

export interface SeenDocument {
  readonly document: DocumentRow | null;
  /** Empty if the document already has the digest that the caller asked with. */
  readonly chunks: readonly ChunkRow[];
}

/** Documents with their chunks. Each method that writes, except `claim` and `showAtOnce`, needs a transaction that has the agent's lock (`lockAgent`). */
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
    const parameters = {
      organizationId,
      agentId,
      kind,
      keyDigest: keyDigest(key),
      digest,
      scopeDigest: indexedScope(scope).digest,
    };
    const [row] = await READ_DOCUMENT.run<DocumentRow & { readonly chunks: string | null }>(executor, parameters);
    if (!row) return { document: null, chunks: [] };
    const { chunks, ...document } = row;
    return { document, chunks: chunks === null ? [] : (JSON.parse(chunks) as ChunkRow[]) };
  }

  /** @param transaction locks the document until it ends; without a transaction there is no lock */
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

  /** Inserts the document without chunks: no search finds it yet. */
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

  /** Inserts chunks of the next revision. No search finds them before that revision is shown. */
  async insertChunks(
    transaction: Transaction,
    source: IndexedSource,
    prepared: PreparedDocument,
    document: DocumentRow,
    chunks: readonly AnalyzedChunk[],
  ): Promise<void> {
    const added = await this.chunkParameters(transaction, source, prepared, chunks, document.revision + 1, false);
    await INSERT_CHUNKS.run(transaction, { ...added, id: document.id });
  }

  /**
   * Stores a new document, or the next revision of one, with its new chunks.
   * @param seen the document when the writes were planned; null if it did not exist
   * @returns its id; null if the document has changed since: then the transaction must not commit
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
    const added = await this.chunkParameters(transaction, source, prepared, chunks, (seen?.revision ?? 0) + 1, true);
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
  private async chunkParameters(
    transaction: Transaction,
    { organizationId, agentId, scope }: IndexedSource,
    { language }: PreparedDocument,
    chunks: readonly AnalyzedChunk[],
    validFrom: number,
    isVisible: boolean,
  ) {
    const partition = await reserveNumbers(
      transaction,
      { organizationId, agentId },
      { scope: indexedScope(scope), chunks: chunks.length, language },
    );
    const numbered = chunks.map((chunk, index) => ({ ...chunk, number: partition.firstNumber + index }));
    const rows = numbered.map(({ terms, ...chunk }) => ({ ...chunk, id: newId(), length: terms.length }));
    return { organizationId, agentId, validFrom, rows, ...termParameters(partition.id, numbered, isVisible) };
  }

  /** Shows the next revision: from the commit, searches find its chunks and not those of the revision before. */
  async showNextRevision(
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
    await this.updateAllPlaces(transaction, organizationId, id);
  }

  /** From the commit, no search finds the document, and another writer of it sees that it lost it. */
  async hide(transaction: Transaction, organizationId: string, id: string): Promise<void> {
    const hidden = { revision: REMOVED, writer: null, chunks: 0, bytes: 0 };
    const changed = await transaction.em.nativeUpdate(
      StoredDocument,
      { organizationId, id, revision: { $ne: REMOVED } },
      hidden,
    );
    if (changed > 0) await this.updateAllPlaces(transaction, organizationId, id);
  }

  /** Does nothing if the document has another revision. */
  async delete({ em }: Transaction, organizationId: string, id: string, revision: number): Promise<void> {
    await em.nativeDelete(StoredDocument, { organizationId, id, revision });
  }

  /** Finds chunks that the revision does not show; if the revision is `REMOVED`, any chunk. */
  async findOutdatedChunks(
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

  /** The document's next revision does not show these chunks. */
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
    await updatePlaces(
      transaction,
      deleted.flatMap((chunk) => (chunk.partition === null ? [] : [{ ...chunk, length: 0, isVisible: false }])),
    );
  }

  private async updateAllPlaces(transaction: Transaction, organizationId: string, documentId: string): Promise<void> {
    await updatePlaces(transaction, await READ_PLACES.run<PlacedChunk>(transaction, { organizationId, documentId }));
  }

  /** @returns null if the organization has no such document */
  async findAgentId(organizationId: string, id: string): Promise<string | null> {
    const found = await this.database.read((em) =>
      em.findOne(StoredDocument, { organizationId, id }, { fields: ['agentId'] }),
    );
    return found?.agentId ?? null;
  }

  /** Ids of documents of any kind, in no order. */
  async listIds(organizationId: string, agentId: string, limit: number): Promise<string[]> {
    return (
      await this.database.read((em) => em.find(StoredDocument, { organizationId, agentId }, { fields: ['id'], limit }))
    ).map(({ id }) => id);
  }

  async measureUsage(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage> {
    const [row] = await MEASURE_USAGE.run<{ chunks: string; bytes: string }>(this.database, {
      organizationId,
      agentId,
      kind,
    });
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
