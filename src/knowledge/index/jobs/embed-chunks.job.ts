import { Database } from '../../../platform/database/index.js';
import { type JobOf, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { EmbedAgent } from '../application/embeddings/embed-agent.js';
import { SemanticSearchState } from '../application/embeddings/semantic-search-state.js';
import { AGENTS_AT_ONCE } from '../limits.js';
import { embedChunks } from './embedding.jobs.js';

@Processor(embedChunks.name, { concurrency: AGENTS_AT_ONCE })
export class EmbedChunks extends WorkerHost {
  constructor(
    private readonly agents: EmbedAgent,
    private readonly state: SemanticSearchState,
    private readonly outbox: Outbox,
    private readonly database: Database,
  ) {
    super();
  }

  async process({ data: { failures, ...agent }, signal }: JobOf<typeof embedChunks>): Promise<void> {
    await this.state.prepare();
    if (!this.state.isReady) return;
    const retry = await this.agents.execute(agent, failures, signal);
    if (!retry) return;
    const options = { dedupeKey: agent.agentId, delaySeconds: retry.inSeconds };
    await this.database.transaction((transaction) =>
      this.outbox.enqueue(transaction, embedChunks, { ...agent, failures: retry.failures }, options),
    );
  }
}
