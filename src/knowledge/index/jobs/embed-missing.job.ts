import { Database } from '../../../platform/database/index.js';
import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { EmbeddingModels } from '../application/embeddings/embedding-models.js';
import { SemanticSearchState } from '../application/embeddings/semantic-search-state.js';
import { EmbeddingQueue } from '../application/indexing/embedding-queue.js';
import type { AgentKey } from '../domain/source-kind.js';
import { EmbeddingLeaseRepository } from '../persistence/embedding-lease.repository.js';
import { VectorRepository } from '../persistence/vector.repository.js';
import { embedMissing } from './embedding.jobs.js';

@Processor(embedMissing.name)
export class EmbedMissing extends WorkerHost {
  constructor(
    private readonly models: EmbeddingModels,
    private readonly vectors: VectorRepository,
    private readonly leases: EmbeddingLeaseRepository,
    private readonly state: SemanticSearchState,
    private readonly database: Database,
    private readonly queue: EmbeddingQueue,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    await this.state.prepare();
    if (!this.state.isReady) return;
    await this.models.calibrate(signal);
    for (let agent = await this.vectors.nextAgent(null); agent; agent = await this.vectors.nextAgent(agent.agentId)) {
      signal.throwIfAborted();
      if (!(await this.lacksVectors(agent))) continue;
      const { organizationId, agentId } = agent;
      await this.database.transaction((transaction) => this.queue.enqueueAgent(transaction, organizationId, agentId));
    }
    await this.models.serveCompleted();
    await this.models.removeRetired(signal);
    await this.leases.removeExpired();
  }

  private async lacksVectors(agent: AgentKey): Promise<boolean> {
    for (const { id } of await this.models.listActive()) {
      if ((await this.vectors.findChunksWithoutVector(agent, id, 1)).length > 0) return true;
    }
    return false;
  }
}
