import { z } from 'zod';
import { Database } from '../../../platform/database/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { CalibrateModels } from '../application/embeddings/calibrate-models.js';
import { EmbeddingModels } from '../application/embeddings/embedding-models.js';
import { SemanticSearchState } from '../application/embeddings/semantic-search-state.js';
import { EmbeddingQueue } from '../application/indexing/embedding-queue.js';
import { EMBED_MISSING_EVERY_MINUTES, MISSING_BATCH } from '../embedding-limits.js';
import { EmbeddingLeaseRepository } from '../persistence/embedding-lease.repository.js';
import { VectorRepository } from '../persistence/vector.repository.js';

const payload = z.object({});

/** Takes up every agent whose chunks lack vectors, whatever became of the job that should have made them. */
export const embedMissing = defineJob({
  name: 'knowledge.embed-missing',
  payload,
  schedule: { everyMinutes: EMBED_MISSING_EVERY_MINUTES, payload: {} },
});

interface Agent {
  readonly organizationId: string;
  readonly agentId: string;
}

@Processor(embedMissing.name)
export class EmbedMissing extends WorkerHost {
  constructor(
    private readonly models: EmbeddingModels,
    private readonly vectors: VectorRepository,
    private readonly leases: EmbeddingLeaseRepository,
    private readonly state: SemanticSearchState,
    private readonly calibrate: CalibrateModels,
    private readonly database: Database,
    private readonly queue: EmbeddingQueue,
  ) {
    super();
  }

  async process({ signal }: ActiveJob<z.output<typeof payload>>): Promise<void> {
    await this.state.prepare();
    if (!this.state.isReady) return;
    await this.calibrate.execute(signal);
    let missing: Agent[] = [];
    for (let agent = await this.vectors.agentAfter(null); agent; agent = await this.vectors.agentAfter(agent.agentId)) {
      signal.throwIfAborted();
      if (await this.lacks(agent)) missing.push(agent);
      if (missing.length < MISSING_BATCH) continue;
      await this.takeUp(missing);
      missing = [];
    }
    await this.takeUp(missing);
    await this.models.complete();
    await this.models.removeRetired(signal);
    await this.leases.removeOld();
  }

  private async lacks({ organizationId, agentId }: Agent): Promise<boolean> {
    for (const { id } of await this.models.current()) {
      if ((await this.vectors.lacking(organizationId, agentId, id, 1)).length > 0) return true;
    }
    return false;
  }

  private async takeUp(agents: readonly Agent[]): Promise<void> {
    if (agents.length === 0) return;
    await this.database.transaction(async (transaction) => {
      for (const { organizationId, agentId } of agents) await this.queue.chunksAdded(transaction, organizationId, agentId);
    });
  }
}
