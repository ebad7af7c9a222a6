import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../../../platform/cache/index.js';
import { Clock, KeyedQueue } from '../../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../../platform/database/index.js';
import { EventBus } from '../../../../platform/events/index.js';
import { BackgroundPace } from '../../../../platform/http/index.js';
import { KnowledgeChanged } from '../../domain/index.events.js';
import type { ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import type { SourceKind, StoreUsage } from '../../domain/source-kind.js';
import { HAS_CHUNKS_CACHED_AGENTS, HAS_CHUNKS_CACHE_MS } from '../../../limits.js';
import { uuids } from '../../persistence/arrays.js';
import { DocumentIndex, type IndexedDocument, type IndexedSource, type PutOptions, type WithDocument } from './document-index.js';
import { agentOf, deleteChunks, deleteDocument, findDocument, hideDocument, outdatedChunks, REMOVED } from '../../persistence/document-rows.js';
import { DocumentTakenOver, DocumentWriter } from './document-writer.js';
import { DELETED_AT_ONCE, MAX_WRITE_ATTEMPTS, WRITE_AGAIN_AFTER_MS } from '../../limits.js';
import { prepareDocument } from './prepared-document.js';
import { lockAgent } from '../../persistence/postings.sql.js';

@Injectable()
export class StoredDocumentIndex extends DocumentIndex {
  /** Of one document, in this process: two of them would begin anew because of one another. */
  private readonly writes = new KeyedQueue();
  private readonly agentsWithChunks: TtlCache<boolean>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
    private readonly writer: DocumentWriter,
    private readonly pace: BackgroundPace,
  ) {
    super();
    this.agentsWithChunks = new TtlCache({ clock, ttlMs: HAS_CHUNKS_CACHE_MS, maxEntries: HAS_CHUNKS_CACHED_AGENTS });
    events.subscribe(KnowledgeChanged, ({ organizationId, agentId }) => this.agentsWithChunks.delete(cacheKey(organizationId, agentId)));
  }

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
          return await this.writer.write(source, prepared, accept, attempt === 1 ? options : { ...options, isNew: false });
        } catch (error) {
          if (!(error instanceof DocumentTakenOver) || attempt >= MAX_WRITE_ATTEMPTS) throw error;
          await this.afterTakeOver(source);
        }
      }
    });
    if (indexed && !indexed.unchanged) this.events.publish(new KnowledgeChanged(source.organizationId, source.agentId));
    return indexed;
  }

  /** What is being removed is removed first, so that the document can be there anew; a writer in several steps is let finish. */
  private async afterTakeOver(source: IndexedSource): Promise<void> {
    const document = await findDocument(this.database, source);
    if (document?.revision === REMOVED) await this.remove(source.organizationId, [document.id]);
    else if (document?.writer) await this.clock.sleep(WRITE_AGAIN_AFTER_MS);
  }

  async remove(organizationId: string, documentIds: readonly string[], signal?: AbortSignal): Promise<void> {
    const agents = new Set<string>();
    try {
      for (const id of documentIds) {
        signal?.throwIfAborted();
        const agentId = await agentOf(this.database, organizationId, id);
        if (agentId === null) continue;
        agents.add(agentId);
        await this.removeOne(organizationId, agentId, id, signal);
      }
    } finally {
      for (const agentId of agents) this.events.publish(new KnowledgeChanged(organizationId, agentId));
    }
  }

  private async removeOne(organizationId: string, agentId: string, id: string, signal?: AbortSignal): Promise<void> {
    for (let left = true; left; ) {
      signal?.throwIfAborted();
      left = await this.pace.run(() => this.database.transaction((transaction) => this.removeSome(transaction, { organizationId, agentId }, id)));
    }
  }

  /** @returns whether chunks of it may be left */
  private async removeSome(transaction: Transaction, owner: { readonly organizationId: string; readonly agentId: string }, id: string): Promise<boolean> {
    const { organizationId } = owner;
    await lockAgent(transaction, owner);
    await hideDocument(transaction, organizationId, id);
    const chunkIds = await outdatedChunks(transaction, organizationId, id, REMOVED, DELETED_AT_ONCE);
    await deleteChunks(transaction, organizationId, id, chunkIds);
    if (chunkIds.length === DELETED_AT_ONCE) return true;
    await deleteDocument(transaction, organizationId, id, REMOVED);
    return false;
  }

  async documentsOf(organizationId: string, agentId: string, kind: SourceKind, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select id::text as id from knowledge_documents where organization_id = $1::uuid and agent_id = $2::uuid and kind = $3::text limit $4::integer`,
      [organizationId, agentId, kind, limit],
    );
    return rows.map(({ id }) => id);
  }

  async usageOf(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage> {
    const [row] = await this.database.query<{ chunks: string; bytes: string }>(
      `select coalesce(sum(chunks), 0)::text as chunks, coalesce(sum(bytes::bigint), 0)::text as bytes from knowledge_documents
        where organization_id = $1::uuid and agent_id = $2::uuid and kind = $3::text`,
      [organizationId, agentId, kind],
    );
    return { chunks: Number(row?.chunks), bytes: Number(row?.bytes) };
  }

  async usageOfEach(organizationId: string, documentIds: readonly string[]): Promise<ReadonlyMap<string, StoreUsage>> {
    const rows = await this.database.query<{ id: string; chunks: number; bytes: number }>(
      `select id::text as id, chunks, bytes from knowledge_documents where organization_id = $1::uuid and id = any($2::text::uuid[])`,
      [organizationId, uuids(documentIds)],
    );
    return new Map(rows.map(({ id, chunks, bytes }) => [id, { chunks, bytes }]));
  }

  async hasChunks(organizationId: string, agentId: string): Promise<boolean> {
    return (await this.agentsWithChunks.get(cacheKey(organizationId, agentId), () => this.readHasChunks(organizationId, agentId))) ?? false;
  }

  private async readHasChunks(organizationId: string, agentId: string): Promise<boolean> {
    const rows = await this.database.query(
      'select 1 from knowledge_documents where organization_id = $1::uuid and agent_id = $2::uuid and chunks > 0 limit 1',
      [organizationId, agentId],
    );
    return rows.length > 0;
  }
}

function cacheKey(organizationId: string, agentId: string): string {
  return `${organizationId} ${agentId}`;
}
