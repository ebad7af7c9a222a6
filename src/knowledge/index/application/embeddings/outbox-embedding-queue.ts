import { Injectable } from '@nestjs/common';
import { EmbeddingModel } from '../../../../models/index.js';
import type { Transaction } from '../../../../platform/database/index.js';
import { Outbox } from '../../../../platform/jobs/index.js';
import { EmbeddingQueue } from '../indexing/embedding-queue.js';
import { embedChunks } from '../../jobs/embedding.jobs.js';

/** One job an agent waits, however many documents come meanwhile. */
@Injectable()
export class OutboxEmbeddingQueue extends EmbeddingQueue {
  constructor(
    private readonly outbox: Outbox,
    private readonly endpoint: EmbeddingModel,
  ) {
    super();
  }

  async chunksAdded(transaction: Transaction, organizationId: string, agentId: string): Promise<void> {
    if (this.endpoint.model === undefined) return;
    await this.outbox.enqueue(transaction, embedChunks, { organizationId, agentId, failures: 0 }, { dedupeKey: agentId });
  }
}
