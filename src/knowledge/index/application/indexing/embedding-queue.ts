import type { Transaction } from '../../../../platform/database/index.js';

/** Has vectors made in the background. */
export abstract class EmbeddingQueue {
  /** Some chunks of the agent lack a vector; in the transaction that makes them visible. */
  abstract chunksAdded(transaction: Transaction, organizationId: string, agentId: string): Promise<void>;

  /** The chunks of all agents may lack vectors of a model. */
  abstract modelsChanged(transaction: Transaction): Promise<void>;
}
