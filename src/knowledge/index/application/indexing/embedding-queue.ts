import { Injectable } from '@nestjs/common';
import { EmbeddingModel } from '../../../../models/index.js';
import type { Transaction } from '../../../../platform/database/index.js';
import { Outbox } from '../../../../platform/jobs/index.js';
import { embedChunks, embedMissing } from '../../jobs/embedding.jobs.js';

/** Has vectors made in the background: one job an agent waits, however many documents come meanwhile. */
@Injectable()
export class EmbeddingQueue {
  constructor(
    private readonly outbox: Outbox,
    private readonly endpoint: EmbeddingModel,
  ) {}

  /** Some chunks of the agent lack a vector; in the transaction that makes them visible. */
  async chunksAdded(transaction: Transaction, organizationId: string, agentId: string): Promise<void> {
    if (this.endpoint.model === undefined) return;
    await this.outbox.enqueue(
      transaction,
      embedChunks,
      { organizationId, agentId, failures: 0 },
      { dedupeKey: agentId },
    );
  }

  /** The chunks of all agents may lack vectors of a model. */
  modelsChanged(transaction: Transaction): Promise<void> {
    return this.outbox.enqueue(transaction, embedMissing, {}, { dedupeKey: 'changed' });
  }
}
