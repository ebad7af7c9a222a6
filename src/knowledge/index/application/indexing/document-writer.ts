import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { newId } from '../../../../platform/ids/index.js';
import type { IndexedDocument, IndexedSource, PutOptions, WithDocument } from './document-index.js';
import { type ChunksToInsert, insertChunks, showWithChunks } from '../../persistence/chunk-rows.js';
import {
  changeChunks, chunksOfDocument, claimDocument, deleteChunks, deleteDocument, type DocumentRow, endChunks, findDocument, insertDocument,
  outdatedChunks, placeAll, readDocument, REMOVED, type SeenDocument, showRevision,
} from '../../persistence/document-rows.js';
import { EmbeddingQueue } from './embedding-queue.js';
import { CHANGED_AT_ONCE, DELETED_AT_ONCE, INSERTED_AT_ONCE } from '../../limits.js';
import { DocumentTerms, type PreparedChunk, type PreparedDocument } from './prepared-document.js';
import { lockAgent, lockPartition, type Partition } from '../../persistence/postings.sql.js';
import { indexedScopeOf } from '../../persistence/indexed-scope.js';
import { planWrites, type WritePlan } from '../../domain/write-plan.js';

/** Another writer has begun with the document since, or it is being removed. */
export class DocumentTakenOver extends Error {}
class NotAccepted extends Error {}

const NOTHING_SEEN: SeenDocument = { document: null, chunks: [] };

/** One document that is being put. */
interface Write {
  readonly source: IndexedSource;
  readonly prepared: PreparedDocument;
  readonly terms: DocumentTerms;
  readonly accept: WithDocument;
  readonly options: PutOptions;
}

interface Begun {
  readonly document: DocumentRow;
  readonly plan: WritePlan;
  readonly writer: string;
}

/**
 * Writes a document in one transaction where its changes are small. Where they are not, chunks are inserted in many transactions, unseen
 * by readers, and one short transaction shows them all in place of the old ones, which are deleted after it. What is left by
 * a process that dies meanwhile is never seen, and goes with the document's next write or its removal.
 */
@Injectable()
export class DocumentWriter {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly embeddings: EmbeddingQueue,
    private readonly pace: BackgroundPace,
  ) {}

  /**
   * @returns null when it was not accepted
   * @throws DocumentTakenOver
   */
  async write(source: IndexedSource, prepared: PreparedDocument, accept: WithDocument, options: PutOptions = {}): Promise<IndexedDocument | null> {
    const terms = new DocumentTerms(prepared);
    const write: Write = { source, prepared, terms, accept, options };
    try {
      const { document, chunks } = options.isNew === true ? NOTHING_SEEN : await readDocument(this.database, source, prepared.digest.toString('hex'));
      if (document?.revision === REMOVED) throw new DocumentTakenOver();
      if (document?.digest === prepared.digest.toString('hex')) return await this.acceptUnchanged(write, document);
      const plan = planWrites(chunks, prepared.chunks, document?.revision ?? 0);
      await terms.prepare(plan.inserted.slice(0, INSERTED_AT_ONCE));
      // Whoever is writing the document may have stored chunks since that the plan knows nothing of.
      if (!isLarge(plan) && !document?.writer) return await this.writeAtOnce(write, document, plan);
      const begun = await this.database.transaction((transaction) => this.begin(transaction, write));
      return await this.writeInSteps(write, begun);
    } catch (error) {
      if (error instanceof NotAccepted) return null;
      throw error;
    }
  }

  private async acceptUnchanged({ source, prepared, accept }: Write, seen: DocumentRow): Promise<IndexedDocument> {
    return this.database.transaction(async (transaction) => {
      const document = await findDocument(transaction, source, true);
      if (document?.digest !== seen.digest || document.revision === REMOVED) throw new DocumentTakenOver();
      const indexed = { documentId: document.id, unchanged: true, chunks: prepared.chunks.length, bytes: prepared.bytes };
      // A writer of another text would show it after this one was told to be there.
      if (document.writer !== null) await claimDocument(transaction, source.organizationId, document.id, newId());
      if (!(await accept(transaction, indexed))) throw new NotAccepted();
      return indexed;
    });
  }

  /** Planned without a lock: nothing is stored where the document is not as it was seen. */
  private writeAtOnce(write: Write, seen: DocumentRow | null, plan: WritePlan): Promise<IndexedDocument> {
    const { source, prepared } = write;
    return this.paced(async (transaction) => {
      const partition = await reserve(transaction, write, plan.inserted.length);
      const documentId = await showWithChunks(transaction, source, prepared, seen, toInsert(partition, write, plan.inserted), this.clock.now());
      if (documentId === null) throw new DocumentTakenOver();
      await deleteChunks(transaction, source.organizationId, documentId, [...plan.dropped, ...plan.abandoned]);
      if (plan.changed.length > 0) await changeChunks(transaction, source.organizationId, documentId, plan.changed);
      return this.tell(transaction, write, documentId);
    });
  }

  private async begin(transaction: Transaction, write: Write): Promise<Begun> {
    const { source, prepared } = write;
    await lockAgent(transaction, source);
    const found = await findDocument(transaction, source, true);
    if (found?.revision === REMOVED) throw new DocumentTakenOver();
    const document = found ?? (await insertDocument(transaction, source, this.clock.now()));
    const plan = planWrites(found ? await chunksOfDocument(transaction, source, document.id) : [], prepared.chunks, document.revision);
    const writer = newId();
    await claimDocument(transaction, source.organizationId, document.id, writer);
    return { document, plan, writer };
  }

  private async tell(transaction: Transaction, { source, prepared, accept, options }: Write, documentId: string): Promise<IndexedDocument> {
    if (options.withoutVectors !== true) await this.embeddings.chunksAdded(transaction, source.organizationId, source.agentId);
    const indexed = { documentId, unchanged: false, chunks: prepared.chunks.length, bytes: prepared.bytes };
    if (!(await accept(transaction, indexed))) throw new NotAccepted();
    return indexed;
  }

  private async writeInSteps(write: Write, begun: Begun): Promise<IndexedDocument> {
    const { document, plan } = begun;
    const { organizationId } = write.source;
    for (const ids of parts(plan.abandoned, DELETED_AT_ONCE)) {
      await this.step(write, begun, (transaction) => deleteChunks(transaction, organizationId, document.id, ids));
    }
    for (const chunks of parts(plan.inserted, INSERTED_AT_ONCE)) {
      await write.terms.prepare(chunks);
      await this.step(write, begun, async (transaction) => {
        const partition = await reserve(transaction, write, chunks.length);
        await insertChunks(transaction, write.source, document, toInsert(partition, write, chunks));
      });
      write.terms.forget(chunks);
    }
    for (const changed of parts(plan.changed, CHANGED_AT_ONCE)) {
      await this.step(write, begun, (transaction) => changeChunks(transaction, organizationId, document.id, changed));
    }
    for (const ids of parts(plan.dropped, CHANGED_AT_ONCE)) {
      await this.step(write, begun, (transaction) => endChunks(transaction, organizationId, document, ids));
    }
    try {
      return await this.step(write, begun, async (transaction) => {
        await showRevision(transaction, document.id, write.source, write.prepared, this.clock.now());
        await placeAll(transaction, organizationId, document.id);
        return this.tell(transaction, write, document.id);
      });
    } finally {
      await this.clean(write.source, begun);
    }
  }

  /** The embedded database works in this thread. */
  private paced<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.pace.run(() => this.database.transaction(work));
  }

  /** A transaction of a write that has several of them. */
  private step<Result>({ source }: Write, { document, writer }: Begun, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.paced(async (transaction) => {
      await lockAgent(transaction, source);
      const now = await findDocument(transaction, source, true);
      if (now?.id !== document.id || now.writer !== writer) throw new DocumentTakenOver();
      return work(transaction);
    });
  }

  /** Deletes what the document's revision does not show, unless somebody else is writing it. */
  private async clean(source: IndexedSource, { document: { id: documentId }, writer }: Begun): Promise<void> {
    for (let left = true; left; ) {
      left = await this.paced(async (transaction) => {
        await lockAgent(transaction, source);
        const document = await findDocument(transaction, source, true);
        const isOthers = document?.id !== documentId || (document.writer !== null && document.writer !== writer);
        if (isOthers || document.revision === REMOVED) return false;
        const ids = await outdatedChunks(transaction, source.organizationId, documentId, document.revision, DELETED_AT_ONCE);
        await deleteChunks(transaction, source.organizationId, document.id, ids);
        if (ids.length < DELETED_AT_ONCE && document.revision === 0) await deleteDocument(transaction, source.organizationId, documentId, 0);
        return ids.length === DELETED_AT_ONCE;
      });
    }
  }
}

/** Takes the agent's lock too. */
function reserve(transaction: Transaction, { source, prepared }: Write, chunks: number): Promise<Partition> {
  return lockPartition(transaction, source, { scope: indexedScopeOf(source.scope), chunks, language: prepared.language });
}

function toInsert(partition: Partition, { terms }: Write, chunks: readonly PreparedChunk[]): ChunksToInsert {
  return { partition, chunks: chunks.map((chunk) => ({ chunk, terms: terms.of(chunk) })) };
}

function isLarge({ inserted, changed, dropped, abandoned }: WritePlan): boolean {
  return inserted.length > INSERTED_AT_ONCE || changed.length > CHANGED_AT_ONCE || dropped.length + abandoned.length > DELETED_AT_ONCE;
}

function* parts<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
