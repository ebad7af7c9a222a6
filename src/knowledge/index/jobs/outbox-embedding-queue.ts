import { Injectable } from '@nestjs/common';
import { EmbeddingModel } from '../../../models/index.js';
import type { Transaction } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { EmbeddingQueue } from '../application/indexing/embedding-queue.js';
import { embedChunks } from './embed-chunks.job.js';
import { embedMissing } from './embed-missing.job.js';

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

  modelsChanged(transaction: Transaction): Promise<void> {
    return this.outbox.enqueue(transaction, embedMissing, {}, { dedupeKey: 'changed' });
  }
}
