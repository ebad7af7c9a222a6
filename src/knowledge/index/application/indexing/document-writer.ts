import { Injectable } from '@nestjs/common';
import { Database, inBatches, type Transaction } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { TermAnalyzer } from '../../domain/chunk-terms.js';
import { type DocumentRow, planWrites, REMOVED, type WritePlan } from '../../domain/write-plan.js';
import { CHANGED_AT_ONCE, DELETED_AT_ONCE, INSERTED_AT_ONCE } from '../../limits.js';
import { DocumentRepository, type SeenDocument } from '../../persistence/document.repository.js';
import { lockKnowledge } from '../../persistence/postings.sql.js';
import { EmbeddingQueue } from './embedding-queue.js';
import type { AcceptDocument, IndexedDocument, IndexedSource, PutOptions } from './indexed-document.js';
import { analyzeChunks, type PreparedDocument } from './prepared-document.js';

/** Another writer has taken the document over, or a removal has. */
export class DocumentTakenOver extends Error {}
class NotAccepted extends Error {}

const NO_DOCUMENT: SeenDocument = { document: null, chunks: [] };

interface Write {
  readonly source: IndexedSource;
  readonly prepared: PreparedDocument;
  readonly analyzer: TermAnalyzer;
  readonly accept: AcceptDocument;
  readonly options: PutOptions;
}

/** A write in several transactions. It continues as long as the document's row names this writer. */
interface SteppedWrite {
  readonly document: DocumentRow;
  readonly plan: WritePlan;
  readonly writer: string;
}

/**
 * Writes small changes of a document in one transaction. For large ones, many transactions insert chunks that no search finds yet, one
 * short transaction shows them in place of the old ones, and the old ones are deleted after it. If the process dies in between, no search
 * finds the chunks it left, and the document's next write or removal deletes them.
 */
@Injectable()
export class DocumentWriter {
  constructor(
    private readonly database: Database,
    private readonly documents: DocumentRepository,
    private readonly embeddings: EmbeddingQueue,
    private readonly pace: BackgroundPace,
  ) {}

  /** @returns null if the document was not accepted. @throws DocumentTakenOver */
  async write(
    source: IndexedSource,
    prepared: PreparedDocument,
    accept: AcceptDocument,
    options: PutOptions,
  ): Promise<IndexedDocument | null> {
    const write: Write = { source, prepared, analyzer: new TermAnalyzer(prepared.language), accept, options };
    try {
      const { document, chunks } =
        options.isNew === true ? NO_DOCUMENT : await this.documents.read(source, prepared.digest);
      if (document?.revision === REMOVED) throw new DocumentTakenOver();
      if (document?.digest === prepared.digest) return await this.acceptUnchanged(write, document);
      const plan = planWrites(chunks, prepared.chunks, document?.revision ?? 0);
      // The other writer may have stored chunks after the plan was made.
      if (isLarge(plan) || document?.writer) return await this.writeInSteps(write);
      return await this.writeAtOnce(write, document, plan);
    } catch (error) {
      if (error instanceof NotAccepted) return null;
      throw error;
    }
  }

  private acceptUnchanged(write: Write, seen: DocumentRow): Promise<IndexedDocument> {
    return this.database.transaction(async (transaction) => {
      const document = await this.documents.find(write.source, transaction);
      if (document?.digest !== seen.digest || document.revision === REMOVED) throw new DocumentTakenOver();
      // Takes the document from a writer of another text, which would otherwise replace the text that is accepted here.
      if (document.writer !== null) await this.documents.claim(transaction, document, newId());
      return accept(transaction, write, document.id, true);
    });
  }

  /** The writes were planned without a lock: nothing is stored if the document has changed since. */
  private async writeAtOnce(write: Write, seen: DocumentRow | null, plan: WritePlan): Promise<IndexedDocument> {
    const { source, prepared } = write;
    const chunks = await analyzeChunks(write.analyzer, prepared.title, plan.inserted);
    return this.paced(async (transaction) => {
      const id = await this.documents.showAtOnce(transaction, source, prepared, seen, chunks);
      if (id === null) throw new DocumentTakenOver();
      const document = { organizationId: source.organizationId, id };
      await this.documents.deleteChunks(transaction, document, [...plan.dropped, ...plan.abandoned]);
      await this.documents.changeChunks(transaction, document, plan.changed);
      return this.enqueueAndAccept(transaction, write, id);
    });
  }

  private async writeInSteps(write: Write): Promise<IndexedDocument> {
    const { documents } = this;
    const { source, prepared } = write;
    const stepped = await this.database.transaction((transaction) => this.begin(transaction, write));
    const { document, plan } = stepped;
    const step = <Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> =>
      this.step(write, stepped, work);
    for (const ids of inBatches(plan.abandoned, () => 1, DELETED_AT_ONCE))
      await step((transaction) => documents.deleteChunks(transaction, document, ids));
    for (const batch of inBatches(plan.inserted, () => 1, INSERTED_AT_ONCE)) {
      const chunks = await analyzeChunks(write.analyzer, prepared.title, batch);
      await step((transaction) => documents.insertChunks(transaction, source, prepared, document, chunks));
    }
    for (const chunks of inBatches(plan.changed, () => 1, CHANGED_AT_ONCE))
      await step((transaction) => documents.changeChunks(transaction, document, chunks));
    for (const ids of inBatches(plan.dropped, () => 1, CHANGED_AT_ONCE))
      await step((transaction) => documents.endChunks(transaction, document, ids));
    try {
      return await step(async (transaction) => {
        await documents.showNextRevision(transaction, source, prepared, document);
        return this.enqueueAndAccept(transaction, write, document.id);
      });
    } finally {
      await this.deleteOutdated(source, stepped);
    }
  }

  private async begin(transaction: Transaction, { source, prepared }: Write): Promise<SteppedWrite> {
    await lockKnowledge(transaction, source);
    const { document: found, chunks } = await this.documents.read(source, prepared.digest, transaction);
    if (found?.revision === REMOVED || found?.digest === prepared.digest) throw new DocumentTakenOver();
    const document = found ?? (await this.documents.insert(transaction, source, prepared));
    const writer = newId();
    await this.documents.claim(transaction, document, writer);
    return { document, plan: planWrites(chunks, prepared.chunks, document.revision), writer };
  }

  private async enqueueAndAccept(transaction: Transaction, write: Write, documentId: string): Promise<IndexedDocument> {
    const { source, options } = write;
    if (options.withoutVectors !== true)
      await this.embeddings.enqueueAgent(transaction, source.organizationId, source.agentId);
    return accept(transaction, write, documentId, false);
  }

  /** Paced, because the embedded database computes in this thread. */
  private paced<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.pace.run(() => this.database.transaction(work));
  }

  /** Runs one of the transactions of a write. @throws DocumentTakenOver */
  private step<Result>(
    { source }: Write,
    { document, writer }: SteppedWrite,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.paced(async (transaction) => {
      await lockKnowledge(transaction, source);
      const now = await this.documents.find(source, transaction);
      if (now?.id !== document.id || now.writer !== writer) throw new DocumentTakenOver();
      return work(transaction);
    });
  }

  /** Deletes the chunks that the document's revision does not show, unless another writer has the document. */
  private async deleteOutdated(source: IndexedSource, { document: { id }, writer }: SteppedWrite): Promise<void> {
    const { documents } = this;
    const deleteSome = async (transaction: Transaction): Promise<boolean> => {
      await lockKnowledge(transaction, source);
      const document = await documents.find(source, transaction);
      const isTakenOver = document?.id !== id || (document.writer !== null && document.writer !== writer);
      if (isTakenOver || document.revision === REMOVED) return false;
      const ids = await documents.findOutdatedChunks(transaction, document, document.revision, DELETED_AT_ONCE);
      await documents.deleteChunks(transaction, document, ids);
      const hasMore = ids.length === DELETED_AT_ONCE;
      if (!hasMore && document.revision === 0) await documents.delete(transaction, document, 0);
      return hasMore;
    };
    while (await this.paced(deleteSome));
  }
}

/** @throws NotAccepted */
async function accept(
  transaction: Transaction,
  { prepared: { chunks, bytes }, ...write }: Write,
  documentId: string,
  isUnchanged: boolean,
): Promise<IndexedDocument> {
  const indexed = { documentId, isUnchanged, chunks: chunks.length, bytes };
  if (!(await write.accept(transaction, indexed))) throw new NotAccepted();
  return indexed;
}

function isLarge({ inserted, changed, dropped, abandoned }: WritePlan): boolean {
  return (
    inserted.length > INSERTED_AT_ONCE ||
    changed.length > CHANGED_AT_ONCE ||
    dropped.length + abandoned.length > DELETED_AT_ONCE
  );
}
