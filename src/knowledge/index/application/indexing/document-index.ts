import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../../../platform/cache/index.js';
import { Clock, KeyedQueue } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { HAS_CHUNKS_CACHED_AGENTS, HAS_CHUNKS_CACHE_MS } from '../../../limits.js';
import type { ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import type { SourceKind, StoreUsage } from '../../domain/source-kind.js';
import { REMOVED } from '../../domain/write-plan.js';
import { DELETED_AT_ONCE, MAX_WRITE_ATTEMPTS, WRITE_AGAIN_AFTER_MS } from '../../limits.js';
import { DocumentRepository } from '../../persistence/document.repository.js';
import { lockAgent } from '../../persistence/postings.sql.js';
import { DocumentTakenOver, DocumentWriter } from './document-writer.js';
import type { IndexedDocument, IndexedSource, PutOptions, WithDocument } from './indexed-document.js';
import { prepareDocument } from './prepared-document.js';

/** The chunks of all documents. Their vectors follow in the background; keywords find them with the commit. */
@Injectable()
export class DocumentIndex {
  /** Of one document, in this process: two of them would begin anew because of one another. */
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
   * Puts a document in place of what was there under its key: chunks that stay the same stay, with their vectors.
   * @param accept called in the transaction, for the source to check that the document is still wanted and to note what
   * became of it; where it answers false nothing is stored
   * @returns null when it was not accepted
   */
  async put(
    source: IndexedSource,
    parsed: ParsedDocument,
    accept: WithDocument = () => Promise.resolve(true),
    options: PutOptions = {},
  ): Promise<IndexedDocument | null> {
    const prepared = await prepareDocument(source, parsed);
    const indexed = await this.writes.run(`${source.agentId} ${source.kind} ${source.key}`, async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.writer.write(
            source,
            prepared,
            accept,
            attempt === 1 ? options : { ...options, isNew: false },
          );
        } catch (error) {
          if (!(error instanceof DocumentTakenOver) || attempt >= MAX_WRITE_ATTEMPTS) throw error;
          await this.afterTakeOver(source);
        }
      }
    });
    if (indexed && !indexed.unchanged) this.agentsWithChunks.delete(cacheKey(source.organizationId, source.agentId));
    return indexed;
  }

  /** What is being removed is removed first, so that the document can be there anew; a writer in several steps is let finish. */
  private async afterTakeOver(source: IndexedSource): Promise<void> {
    const document = await this.documents.find(source);
    if (document?.revision === REMOVED) await this.remove(source.organizationId, [document.id]);
    else if (document?.writer) await this.clock.sleep(WRITE_AGAIN_AFTER_MS);
  }

  /** Removes documents with chunks and vectors, in short transactions. Unknown ids, and those of other organizations, are left out. */
  async remove(organizationId: string, documentIds: readonly string[], signal?: AbortSignal): Promise<void> {
    for (const id of documentIds) {
      signal?.throwIfAborted();
      const agentId = await this.documents.agentOf(organizationId, id);
      if (agentId === null) continue;
      const removeSome = (transaction: Transaction): Promise<boolean> =>
        this.removeSome(transaction, organizationId, agentId, id);
      while (await this.pace.run(() => this.database.transaction(removeSome))) signal?.throwIfAborted();
      this.agentsWithChunks.delete(cacheKey(organizationId, agentId));
    }
  }

  /** @returns whether chunks of it may be left */
  private async removeSome(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    id: string,
  ): Promise<boolean> {
    await lockAgent(transaction, { organizationId, agentId });
    await this.documents.hide(transaction, organizationId, id);
    const chunkIds = await this.documents.outdatedChunks(transaction, organizationId, id, REMOVED, DELETED_AT_ONCE);
    await this.documents.deleteChunks(transaction, organizationId, id, chunkIds);
    if (chunkIds.length === DELETED_AT_ONCE) return true;
    await this.documents.delete(transaction, organizationId, id, REMOVED);
    return false;
  }

  /** What all documents of a kind take up. */
  usageOf(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage> {
    return this.documents.usageOf(organizationId, agentId, kind);
  }

  /** Whether the agent has any chunk. From memory for at most 5 s. */
  async hasChunks(organizationId: string, agentId: string): Promise<boolean> {
    return (
      (await this.agentsWithChunks.get(cacheKey(organizationId, agentId), () =>
        this.documents.hasChunks(organizationId, agentId),
      )) ?? false
    );
  }
}

function cacheKey(organizationId: string, agentId: string): string {
  return `${organizationId} ${agentId}`;
}
