import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../../../platform/cache/index.js';
import { Clock, KeyedQueue } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { HAS_CHUNKS_CACHED_AGENTS, HAS_CHUNKS_CACHE_MS } from '../../../limits.js';
import type { ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import type { SourceKind, StoreUsage } from '../../domain/source-kind.js';
import { type DocumentId, REMOVED } from '../../domain/write-plan.js';
import { DELETED_AT_ONCE, MAX_WRITE_ATTEMPTS, WRITE_AGAIN_AFTER_MS } from '../../limits.js';
import { DocumentRepository } from '../../persistence/document.repository.js';
import { lockKnowledge } from '../../persistence/postings.sql.js';
import { DocumentTakenOver, DocumentWriter } from './document-writer.js';
import type { AcceptDocument, IndexedDocument, IndexedSource, PutOptions } from './indexed-document.js';
import { prepareDocument } from './prepared-document.js';

/** The chunks of all documents. Keyword search finds a document from its commit; a job makes the vectors later. */
@Injectable()
export class DocumentIndex {
  /** Writes of one document run one after the other in this process: two at a time would each have to repeat the other. */
  private readonly writes = new KeyedQueue();
  private readonly agentsWithChunks: TtlCache<boolean>;

  constructor(
    private readonly database: Database,
    private readonly documents: DocumentRepository,
    private readonly clock: Clock,
    private readonly writer: DocumentWriter,
    private readonly pace: BackgroundPace,
  ) {
    this.agentsWithChunks = new TtlCache({ clock, ttlMs: HAS_CHUNKS_CACHE_MS, maxEntries: HAS_CHUNKS_CACHED_AGENTS });
  }

  /**
   * Stores a document, or replaces the one with its key. Chunks whose text is the same keep their vectors.
   * @param accept called in the transaction that stores the document, so that the source can check that it still wants the
   * document and record the outcome; if it returns false, nothing is stored
   * @returns null if the document was not accepted
   */
  async put(
    source: IndexedSource,
    parsed: ParsedDocument,
    accept: AcceptDocument = () => Promise.resolve(true),
    options: PutOptions = {},
  ): Promise<IndexedDocument | null> {
    const prepared = await prepareDocument(source, parsed);
    const indexed = await this.writes.run(`${source.agentId} ${source.kind} ${source.key}`, async () => {
      for (let attempt = 1; ; attempt += 1) {
        const isNew = attempt === 1 && options.isNew === true;
        try {
          return await this.writer.write(source, prepared, accept, { ...options, isNew });
        } catch (error) {
          if (!(error instanceof DocumentTakenOver) || attempt >= MAX_WRITE_ATTEMPTS) throw error;
          await this.waitForOther(source);
        }
      }
    });
    if (indexed && !indexed.isUnchanged) this.agentsWithChunks.delete(cacheKey(source.organizationId, source.agentId));
    return indexed;
  }

  /** Completes a removal that was interrupted, so that the document can be inserted again; gives a writer in several steps time to finish. */
  private async waitForOther(source: IndexedSource): Promise<void> {
    const document = await this.documents.find(source);
    if (document?.revision === REMOVED) await this.remove(source.organizationId, [document.id]);
    else if (document?.writer) await this.clock.sleep(WRITE_AGAIN_AFTER_MS);
  }

  /** Removes documents with their chunks and vectors, in short transactions. Ignores unknown ids and ids of other organizations. */
  async remove(organizationId: string, documentIds: readonly string[], signal?: AbortSignal): Promise<void> {
    for (const id of documentIds) {
      signal?.throwIfAborted();
      const agentId = await this.documents.findAgentId(organizationId, id);
      if (agentId === null) continue;
      const removeSome = (transaction: Transaction): Promise<boolean> =>
        this.removeSome(transaction, agentId, { organizationId, id });
      while (await this.pace.run(() => this.database.transaction(removeSome))) signal?.throwIfAborted();
      this.agentsWithChunks.delete(cacheKey(organizationId, agentId));
    }
  }

  /** @returns whether the document may have more chunks */
  private async removeSome(transaction: Transaction, agentId: string, document: DocumentId): Promise<boolean> {
    await lockKnowledge(transaction, { organizationId: document.organizationId, agentId });
    await this.documents.hide(transaction, document);
    const chunkIds = await this.documents.findOutdatedChunks(transaction, document, REMOVED, DELETED_AT_ONCE);
    await this.documents.deleteChunks(transaction, document, chunkIds);
    if (chunkIds.length === DELETED_AT_ONCE) return true;
    await this.documents.delete(transaction, document, REMOVED);
    return false;
  }

  measureUsage(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage> {
    return this.documents.measureUsage(organizationId, agentId, kind);
  }

  /** Whether the agent has any chunk, cached for at most 5 s. */
  async hasChunks(organizationId: string, agentId: string): Promise<boolean> {
    const load = (): Promise<boolean> => this.documents.hasChunks(organizationId, agentId);
    return (await this.agentsWithChunks.get(cacheKey(organizationId, agentId), load)) ?? false;
  }
}

function cacheKey(organizationId: string, agentId: string): string {
  return `${organizationId} ${agentId}`;
}
