import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { TermAnalyzer } from '../../domain/chunk-terms.js';
import { type DocumentRow, planWrites, REMOVED, type WritePlan } from '../../domain/write-plan.js';
import { CHANGED_AT_ONCE, DELETED_AT_ONCE, INSERTED_AT_ONCE } from '../../limits.js';
import { DocumentRepository, type SeenDocument } from '../../persistence/document.repository.js';
import { lockAgent } from '../../persistence/postings.sql.js';
import { EmbeddingQueue } from './embedding-queue.js';
import type { IndexedDocument, IndexedSource, PutOptions, WithDocument } from './indexed-document.js';
import { analyzed, type PreparedDocument } from './prepared-document.js';

/** Another writer has begun with the document since, or it is being removed. */
export class DocumentTakenOver extends Error {}
class NotAccepted extends Error {}

const NOTHING_SEEN: SeenDocument = { document: null, chunks: [] };

/** One document that is being put. */
interface Write {
  readonly source: IndexedSource;
  readonly prepared: PreparedDocument;
  readonly analyzer: TermAnalyzer;
  readonly accept: WithDocument;
  readonly options: PutOptions;
}

/** A write in several steps, as long as the document says that it is this writer's. */
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
    private readonly documents: DocumentRepository,
    private readonly embeddings: EmbeddingQueue,
    private readonly pace: BackgroundPace,
  ) {}

  /**
   * @returns null when it was not accepted
   * @throws DocumentTakenOver
   */
  async write(
    source: IndexedSource,
    prepared: PreparedDocument,
    accept: WithDocument,
    options: PutOptions = {},
  ): Promise<IndexedDocument | null> {
    const write: Write = { source, prepared, analyzer: new TermAnalyzer(prepared.language), accept, options };
    try {
      const { document, chunks } =
        options.isNew === true ? NOTHING_SEEN : await this.documents.read(source, prepared.digest);
      if (document?.revision === REMOVED) throw new DocumentTakenOver();
      if (document?.digest === prepared.digest) return await this.acceptUnchanged(write, document);
      const plan = planWrites(chunks, prepared.chunks, document?.revision ?? 0);
      // Whoever is writing the document may have stored chunks since that the plan knows nothing of.
      if (isLarge(plan) || document?.writer) return await this.writeInSteps(write);
      return await this.writeAtOnce(write, document, plan);
    } catch (error) {
      if (error instanceof NotAccepted) return null;
      throw error;
    }
  }

  private async acceptUnchanged(write: Write, seen: DocumentRow): Promise<IndexedDocument> {
    const { source } = write;
    return this.database.transaction(async (transaction) => {
      const document = await this.documents.find(source, transaction);
      if (document?.digest !== seen.digest || document.revision === REMOVED) throw new DocumentTakenOver();
      // A writer of another text would show it after this one was told to be there.
      if (document.writer !== null)
        await this.documents.claim(transaction, source.organizationId, document.id, newId());
      return accepted(transaction, write, document.id, true);
    });
  }

  /** Planned without a lock: nothing is stored where the document is not as it was seen. */
  private async writeAtOnce(write: Write, seen: DocumentRow | null, plan: WritePlan): Promise<IndexedDocument> {
    const { source, prepared } = write;
    const { organizationId } = source;
    const chunks = await analyzed(write.analyzer, prepared.title, plan.inserted);
    return this.paced(async (transaction) => {
      const documentId = await this.documents.showAtOnce(transaction, source, prepared, seen, chunks);
      if (documentId === null) throw new DocumentTakenOver();
      await this.documents.deleteChunks(transaction, organizationId, documentId, [...plan.dropped, ...plan.abandoned]);
      if (plan.changed.length > 0)
        await this.documents.changeChunks(transaction, organizationId, documentId, plan.changed);
      return this.shown(transaction, write, documentId);
    });
  }

  private async writeInSteps(write: Write): Promise<IndexedDocument> {
    const { source, prepared } = write;
    const begun = await this.database.transaction((transaction) => this.begin(transaction, write));
    const { document, plan } = begun;
    const { organizationId } = source;
    for (const ids of parts(plan.abandoned, DELETED_AT_ONCE)) {
      await this.step(write, begun, (transaction) =>
        this.documents.deleteChunks(transaction, organizationId, document.id, ids),
      );
    }
    for (const part of parts(plan.inserted, INSERTED_AT_ONCE)) {
      const chunks = await analyzed(write.analyzer, prepared.title, part);
      await this.step(write, begun, (transaction) =>
        this.documents.insertChunks(transaction, source, prepared, document, chunks),
      );
    }
    for (const chunks of parts(plan.changed, CHANGED_AT_ONCE)) {
      await this.step(write, begun, (transaction) =>
        this.documents.changeChunks(transaction, organizationId, document.id, chunks),
      );
    }
    for (const ids of parts(plan.dropped, CHANGED_AT_ONCE)) {
      await this.step(write, begun, (transaction) =>
        this.documents.endChunks(transaction, organizationId, document, ids),
      );
    }
    try {
      return await this.step(write, begun, async (transaction) => {
        await this.documents.showNext(transaction, source, prepared, document);
        return this.shown(transaction, write, document.id);
      });
    } finally {
      await this.clean(source, begun);
    }
  }

  private async begin(transaction: Transaction, { source, prepared }: Write): Promise<Begun> {
    await lockAgent(transaction, source);
    const { document: found, chunks } = await this.documents.read(source, prepared.digest, transaction);
    if (found?.revision === REMOVED || found?.digest === prepared.digest) throw new DocumentTakenOver();
    const document = found ?? (await this.documents.insert(transaction, source, prepared));
    const writer = newId();
    await this.documents.claim(transaction, source.organizationId, document.id, writer);
    return { document, plan: planWrites(chunks, prepared.chunks, document.revision), writer };
  }

  private async shown(transaction: Transaction, write: Write, documentId: string): Promise<IndexedDocument> {
    const { source, options } = write;
    if (options.withoutVectors !== true)
      await this.embeddings.chunksAdded(transaction, source.organizationId, source.agentId);
    return accepted(transaction, write, documentId, false);
  }

  /** The embedded database works in this thread. */
  private paced<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.pace.run(() => this.database.transaction(work));
  }

  /** A transaction of a write that has several of them. */
  private step<Result>(
    { source }: Write,
    { document, writer }: Begun,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.paced(async (transaction) => {
      await lockAgent(transaction, source);
      const now = await this.documents.find(source, transaction);
      if (now?.id !== document.id || now.writer !== writer) throw new DocumentTakenOver();
      return work(transaction);
    });
  }

  /** Deletes what the document's revision does not show, unless another writer is at it. */
  private async clean(source: IndexedSource, { document: { id }, writer }: Begun): Promise<void> {
    const { organizationId } = source;
    for (let left = true; left;) {
      left = await this.paced(async (transaction) => {
        await lockAgent(transaction, source);
        const document = await this.documents.find(source, transaction);
        const isOthers = document?.id !== id || (document.writer !== null && document.writer !== writer);
        if (isOthers || document.revision === REMOVED) return false;
        const ids = await this.documents.outdatedChunks(
          transaction,
          organizationId,
          id,
          document.revision,
          DELETED_AT_ONCE,
        );
        await this.documents.deleteChunks(transaction, organizationId, id, ids);
        if (ids.length < DELETED_AT_ONCE && document.revision === 0)
          await this.documents.delete(transaction, organizationId, id, 0);
        return ids.length === DELETED_AT_ONCE;
      });
    }
  }
}

/** @throws NotAccepted */
async function accepted(
  transaction: Transaction,
  { prepared, accept }: Write,
  documentId: string,
  unchanged: boolean,
): Promise<IndexedDocument> {
  const indexed = { documentId, unchanged, chunks: prepared.chunks.length, bytes: prepared.bytes };
  if (!(await accept(transaction, indexed))) throw new NotAccepted();
  return indexed;
}

function isLarge({ inserted, changed, dropped, abandoned }: WritePlan): boolean {
  return (
    inserted.length > INSERTED_AT_ONCE ||
    changed.length > CHANGED_AT_ONCE ||
    dropped.length + abandoned.length > DELETED_AT_ONCE
  );
}

function* parts<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
