import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Outbox } from '../../platform/jobs/index.js';
import { Vault } from '../../platform/vault/index.js';
import { AgentDeleted } from '../domain/agents.events.js';
import { AgentNotFound } from '../domain/agents.errors.js';
import { removeAgentData } from '../jobs/remove-agent-data.job.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

@Injectable()
export class DeleteAgent {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly vault: Vault,
    private readonly outbox: Outbox,
    private readonly events: EventBus,
  ) {}

  /**
   * Deletes the agent, its secrets and, by foreign keys, its sections and versions. Other contexts return nothing of the agent
   * from then on, and a job deletes their rows (`AgentDataHolder`).
   * @throws AgentNotFound
   */
  async execute(organizationId: string, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if (!(await this.agents.delete(transaction, organizationId, id))) throw new AgentNotFound();
      await this.vault.removeRecord(transaction, organizationId, id);
      const agent = { organizationId, agentId: id };
      await this.outbox.enqueue(transaction, removeAgentData, { agent }, { dedupeKey: id });
    });
    this.events.publish(new AgentDeleted(organizationId, id));
  }
}
