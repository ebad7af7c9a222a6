import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { defineJob, type JobContext, JobHandler } from '../../platform/jobs/index.js';
import { AgentDataHolders } from '../application/agent-data-holders.js';

const EVERY_MINUTES = 60;

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

@Injectable()
export class RemoveAgentData extends JobHandler<Payload> {
  readonly job = removeAgentData;

  constructor(private readonly holders: AgentDataHolders) {
    super();
  }

  async run({ agent }: Payload, { signal }: JobContext): Promise<void> {
    for (const holder of this.holders.all) {
      const agents = agent === null ? await holder.leftBehind() : [agent];
      for (const each of agents) await holder.remove(each, signal);
    }
  }
}
