import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { AgentDataHolders } from '../application/agent-data-holders.js';

const EVERY_MINUTES = 60;
/** One large agent does not hold up the others. */
const AT_ONCE = 5;

/** `agent` null: whatever agent has left something behind, be it that its own job has died. */
const payload = z.object({
  agent: z.object({ organizationId: z.uuid(), agentId: z.uuid() }).nullable(),
});
type Payload = z.output<typeof payload>;

/** Removes what belonged to a deleted agent and was too much for its deletion. */
export const removeAgentData = defineJob({
  name: 'agents.remove-data',
  payload,
  schedule: { everyMinutes: EVERY_MINUTES, payload: { agent: null } },
});

@Processor(removeAgentData.name, { concurrency: AT_ONCE })
export class RemoveAgentData extends WorkerHost {
  constructor(private readonly holders: AgentDataHolders) {
    super();
  }

  async process({ data: { agent }, signal }: ActiveJob<Payload>): Promise<void> {
    for (const holder of this.holders.all) {
      const agents = agent === null ? await holder.leftBehind() : [agent];
      for (const each of agents) await holder.remove(each, signal);
    }
  }
}
