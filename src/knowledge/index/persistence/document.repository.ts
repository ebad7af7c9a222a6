import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type SqlExecutor, storableText, type Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { DocumentKey, IndexedSource } from '../application/indexing/indexed-document.js';
import type { AnalyzedChunk, PreparedDocument } from '../application/indexing/prepared-document.js';
import type { SourceKind, StoreUsage } from '../domain/source-kind.js';
import {
  type ChangedChunk,
  type ChunkRow,
  type DocumentId,
  type DocumentRow,
  REMOVED,
  NEVER_DROPPED,
} from '../domain/write-plan.js';
import * as sql from './documents.sql.js';
import { indexedScope, keyDigest, StoredChunk, StoredDocument } from './knowledge.schema.js';
import { reserveNumbers, updatePlaces, type PlacedChunk, termParameters } from './postings.sql.js';

export interface SeenDocument {
  readonly document: DocumentRow | null;
  /** Empty if the document already has the digest of the request. */
  readonly chunks: readonly ChunkRow[];
}

/** Documents with their chunks. Each method that writes, except `claim` and `showAtOnce`, needs a transaction that has the agent's lock (`lockKnowledge`). */
@Injectable()
export class DocumentRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async read(source: IndexedSource, digest: string, executor: SqlExecutor = this.database): Promise<SeenDocument> {
    const { organizationId, key, scope } = source;
    const digests = { keyDigest: keyDigest(key), scopeDigest: indexedScope(scope).digest, digest };
    type Row = Omit<DocumentRow, 'organizationId'> & { readonly chunks: string | null };
    const [row] = await sql.READ_DOCUMENT.run<Row>(executor, { ...source, ...digests });
    if (!row) return { document: null, chunks: [] };
    const { chunks, ...document } = row;
    return {
      document: { organizationId, ...document },
      chunks: chunks === null ? [] : (JSON.parse(chunks) as ChunkRow[]),
    };
  }

  /** @param transaction locks the document until it ends; without a transaction there is no lock */
  async find(
    { organizationId, agentId, kind, key }: DocumentKey,
    transaction?: Transaction,
  ): Promise<DocumentRow | null> {
    const where = { organizationId, agentId, kind, keyDigest: keyDigest(key) };
    const found = await (transaction ?? this.database).read((em) =>
      em.findOne(StoredDocument, where, {
        fields: ['id', 'digest', 'revision', 'writer'],
        disableIdentityMap: true,
        ...(transaction && { lockMode: LockMode.PESSIMISTIC_WRITE }),
      }),
    );
    if (!found) return null;
    const { id, digest, revision, writer } = found;
    return { organizationId, id, digest: Buffer.from(digest).toString('hex'), revision, writer };
  }

  /** Inserts the document without chunks: no search finds it yet. */
  async insert(
    { em }: Transaction,
    { id = newId(), organizationId, agentId, kind, key, url }: IndexedSource,
    { title }: PreparedDocument,
  ): Promise<DocumentRow> {
    const [document, now] = [{ organizationId, id, revision: 0, writer: null }, this.clock.now()];
    const empty = { scope: null, digest: Buffer.alloc(0), chunks: 0, bytes: 0, createdAt: now, updatedAt: now };
    const named = { agentId, kind, key: storableText(key), keyDigest: keyDigest(key), title, url };
    await em.insert(StoredDocument, { ...document, ...named, ...empty });
    return { ...document, digest: '' };
  }

  async claim({ em }: Transaction, { organizationId, id }: DocumentId, writer: string): Promise<void> {
    await em.nativeUpdate(StoredDocument, { organizationId, id }, { writer });
  }

  /** Inserts chunks of the next revision. No search finds them before that revision is shown. */
  async insertChunks(
    transaction: Transaction,
    source: IndexedSource,
    prepared: PreparedDocument,
    { id, revision }: DocumentRow,
    chunks: readonly AnalyzedChunk[],
  ): Promise<void> {
    const added = await this.chunkParameters(transaction, source, prepared, chunks, revision + 1, false);
    await sql.INSERT_CHUNKS.run(transaction, { ...added, id });
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
    const { kind, key } = source;
    const added = await this.chunkParameters(transaction, source, prepared, chunks, (seen?.revision ?? 0) + 1, true);
    const id = seen?.id ?? source.id ?? newId();
    const shown = { ...added, ...shownColumns(source, prepared), id, now: this.clock.now() };
    const keyed = { ...shown, kind, key: storableText(key), keyDigest: keyDigest(key) };
    const [row] = seen
      ? await sql.SHOW_NEXT_REVISION.run<{ id: string }>(transaction, { ...shown, seenRevision: seen.revision })
      : await sql.SHOW_NEW_DOCUMENT.run<{ id: string }>(transaction, keyed);
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
    const agent = { organizationId, agentId };
    const partition = await reserveNumbers(transaction, agent, { scope, chunks: chunks.length, language });
    const numbered = chunks.map((chunk, index) => ({ ...chunk, number: partition.firstNumber + index }));
    const rows = numbered.map(({ terms, ...chunk }) => ({ ...chunk, id: newId(), length: terms.length }));
    return { ...agent, validFrom, rows, ...termParameters(partition.id, numbered, isVisible) };
  }

  /** Shows the next revision: from the commit, searches find its chunks and not those of the revision before. */
  async showNextRevision(
    transaction: Transaction,
    source: IndexedSource,
    prepared: PreparedDocument,
    document: DocumentRow,
  ): Promise<void> {
    const { organizationId, id, revision } = document;
    const next = { revision: revision + 1, writer: null, updatedAt: this.clock.now() };
    const changes = { ...shownColumns(source, prepared), ...next };
    await transaction.em.nativeUpdate(StoredDocument, { organizationId, id }, changes);
    await this.updateAllPlaces(transaction, document);
  }

  /** From the commit, no search finds the document, and another writer of it sees that it lost it. */
  async hide(transaction: Transaction, document: DocumentId): Promise<void> {
    const { organizationId, id } = document;
    const where = { organizationId, id, revision: { $ne: REMOVED } };
    const hidden = { revision: REMOVED, writer: null, chunks: 0, bytes: 0 };
    const changed = await transaction.em.nativeUpdate(StoredDocument, where, hidden);
    if (changed > 0) await this.updateAllPlaces(transaction, document);
  }

  /** Does nothing if the document has another revision. */
  async delete({ em }: Transaction, { organizationId, id }: DocumentId, revision: number): Promise<void> {
    await em.nativeDelete(StoredDocument, { organizationId, id, revision });
  }

  /** Finds chunks that the revision does not show; if the revision is `REMOVED`, any chunk. */
  async findOutdatedChunks(
    { em }: Transaction,
    { organizationId, id: documentId }: DocumentId,
    revision: number,
    limit: number,
  ): Promise<string[]> {
    const isOutdated = [{ validFrom: { $gt: revision } }, { validUntil: { $lte: revision } }];
    const where = { organizationId, documentId, $or: isOutdated };
    return (await em.find(StoredChunk, where, { fields: ['id'], limit, disableIdentityMap: true })).map(({ id }) => id);
  }

  async changeChunks(
    transaction: Transaction,
    { organizationId, id: documentId }: DocumentId,
    chunks: readonly ChangedChunk[],
  ): Promise<void> {
    if (chunks.length === 0) return;
    await sql.CHANGE_CHUNKS.run(transaction, { organizationId, documentId, chunks, validUntil: NEVER_DROPPED });
  }

  /** The document's next revision does not show these chunks. */
  async endChunks(
    { em }: Transaction,
    { organizationId, id: documentId, revision }: DocumentRow,
    ids: readonly string[],
  ): Promise<void> {
    const where = { organizationId, documentId, id: { $in: [...ids] } };
    await em.nativeUpdate(StoredChunk, where, { validUntil: revision + 1 });
  }

  async deleteChunks(
    transaction: Transaction,
    { organizationId, id: documentId }: DocumentId,
    ids: readonly string[],
  ): Promise<void> {
    if (ids.length === 0) return;
    type Deleted = Pick<PlacedChunk, 'partition' | 'number'> | { partition: null };
    const deleted = await sql.DELETE_CHUNKS.run<Deleted>(transaction, { organizationId, documentId, ids });
    await updatePlaces(
      transaction,
      deleted.flatMap((chunk) => (chunk.partition === null ? [] : [{ ...chunk, length: 0, isVisible: false }])),
    );
  }

  private async updateAllPlaces(
    transaction: Transaction,
    { organizationId, id: documentId }: DocumentId,
  ): Promise<void> {
    const places = await sql.READ_PLACES.run<PlacedChunk>(transaction, { organizationId, documentId });
    await updatePlaces(transaction, places);
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
    const found = await this.database.read((em) =>
      em.find(StoredDocument, { organizationId, agentId }, { fields: ['id'], limit }),
    );
    return found.map(({ id }) => id);
  }

  async measureUsage(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage> {
    const [usage] = await sql.MEASURE_USAGE.run<StoreUsage>(this.database, { organizationId, agentId, kind });
    return usage ?? { chunks: 0, bytes: 0 };
  }

  async hasChunks(organizationId: string, agentId: string): Promise<boolean> {
    const [row] = await sql.HAS_CHUNKS.run<{ found: boolean }>(this.database, { organizationId, agentId });
    return row?.found === true;
  }
}

/** The columns that a shown revision sets. */
function shownColumns({ url, scope }: IndexedSource, { title, digest, chunks, bytes }: PreparedDocument) {
  return { title, url, scope, digest: Buffer.from(digest, 'hex'), chunks: chunks.length, bytes };
}
