import type { Transaction } from '../../../../platform/database/index.js';

/** Is told of chunks that can be seen from a commit on, some of them without a vector. */
export abstract class EmbeddingQueue {
  /** In the transaction that makes them visible. */
  abstract chunksAdded(transaction: Transaction, organizationId: string, agentId: string): Promise<void>;
}
