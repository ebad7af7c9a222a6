import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Vault } from '../../platform/vault/index.js';
import { AgentDeleted } from '../domain/agents.events.js';
import { AgentNotFound } from '../domain/agents.errors.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

@Injectable()
export class DeleteAgent {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly vault: Vault,
    private readonly events: EventBus,
  ) {}

  /**
   * Removes the agent, its secrets and, through their foreign keys, the rows of every context that
   * belong to it.
   * @throws AgentNotFound
   */
  async execute(organizationId: string, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if (!(await this.agents.delete(transaction, organizationId, id))) throw new AgentNotFound();
      await this.vault.removeRecord(transaction, organizationId, id);
    });
    this.events.publish(new AgentDeleted(organizationId, id));
  }
}
