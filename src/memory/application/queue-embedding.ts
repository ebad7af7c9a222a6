import { Injectable } from '@nestjs/common';
import { EmbeddingModel } from '../../models/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { Outbox } from '../../platform/jobs/index.js';
import type { MemoryOwner } from '../domain/memory.js';
import { embedMemories } from '../jobs/embed-memories.definition.js';

/** Enqueues the job that embeds the memories of a user: at most one waiting job per user. */
@Injectable()
export class QueueEmbedding {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly endpoint: EmbeddingModel,
  ) {}

  /** Does nothing if no embedding model is set. */
  async add(owner: MemoryOwner): Promise<void> {
    await this.database.transaction((transaction) => this.addIn(transaction, owner));
  }

  /** As `add`, in the transaction that changes the memories. */
  async addIn(transaction: Transaction, { organizationId, agentId, userKey }: MemoryOwner): Promise<void> {
    if (this.endpoint.model === undefined) return;
    const owner = { organizationId, agentId, userKey };
    await this.outbox.enqueue(transaction, embedMemories, owner, { dedupeKey: `${agentId}/${userKey}` });
  }
}
