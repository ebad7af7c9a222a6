import { z } from 'zod';
import { Database } from '../../platform/database/index.js';
import { defineJob, type JobOf, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../application/agent-data-holders.js';
import { deletedAgentsIn } from '../persistence/deleted-agents.sql.js';

const EVERY_MINUTES = 60;
/** More than one, so that a large agent does not delay the others. */
const CONCURRENCY = 5;

/** Removes the rows of a deleted agent that its deletion left (`AgentDataHolder`). */
export const removeAgentData = defineJob({
  name: 'agents.remove-data',
  /** `agent` null: all deleted agents that still have rows, for example because their own job failed. */
  payload: z.object({ agent: z.object({ organizationId: z.uuid(), agentId: z.uuid() }).nullable() }),
  schedule: { everyMinutes: EVERY_MINUTES, payload: { agent: null } },
});

@Processor(removeAgentData.name, { concurrency: CONCURRENCY })
export class RemoveAgentData extends WorkerHost {
  constructor(
    private readonly holders: AgentDataHolders,
    private readonly database: Database,
  ) {
    super();
  }

  async process({ data: { agent }, signal }: JobOf<typeof removeAgentData>): Promise<void> {
    for (const holder of this.holders.all) {
      const agents = agent === null ? await this.deletedAgentsOf(holder) : [agent];
      for (const each of agents) await holder.remove(each, signal);
    }
  }

  private async deletedAgentsOf({ tables }: AgentDataHolder): Promise<Iterable<DeletedAgent>> {
    const found = new Map<string, DeletedAgent>();
    for (const table of tables) {
      for (const agent of await deletedAgentsIn(table).run<DeletedAgent>(this.database, {}))
        found.set(agent.agentId, agent);
    }
    return found.values();
  }
}
