import { Injectable } from '@nestjs/common';
import { EmbeddingModel } from '../../../../models/index.js';
import type { Transaction } from '../../../../platform/database/index.js';
import { Outbox } from '../../../../platform/jobs/index.js';
import { embedChunks, embedMissing } from '../../jobs/embedding.jobs.js';

/** Enqueues the jobs that make vectors. An agent has at most one job in the queue, however many documents are added. */
@Injectable()
export class EmbeddingQueue {
  constructor(
    private readonly outbox: Outbox,
    private readonly endpoint: EmbeddingModel,
  ) {}

  /** Call it in the transaction that makes chunks of the agent visible. */
  async enqueueAgent(transaction: Transaction, organizationId: string, agentId: string): Promise<void> {
    if (this.endpoint.model === undefined) return;
    await this.outbox.enqueue(
      transaction,
      embedChunks,
      { organizationId, agentId, failures: 0 },
      { dedupeKey: agentId },
    );
  }

  /** Call it when a model was added or retired: chunks of any agent may lack a vector. */
  enqueueAllAgents(transaction: Transaction): Promise<void> {
    return this.outbox.enqueue(transaction, embedMissing, {}, { dedupeKey: 'changed' });
  }
}
