import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationSecrets } from './integration-secrets.js';

@Injectable()
export class RemoveIntegration {
  constructor(
    private readonly database: Database,
    private readonly integrations: IntegrationRepository,
    private readonly secrets: IntegrationSecrets,
    private readonly events: EventBus,
  ) {}

  /**
   * Detaches the integration from the agent, and removes it with its secrets if no other agent uses it.
   * @throws IntegrationNotFound
   */
  async execute(organizationId: string, agentId: string, id: string): Promise<void> {
    const agentIds = await this.database.transaction(async (transaction) => {
      const before = await this.detach(transaction, organizationId, agentId, id);
      if (!before.includes(agentId)) throw new IntegrationNotFound();
      return before;
    });
    this.events.publish(new IntegrationChanged(organizationId, id, agentIds));
  }

  /** As `execute`, for a deleted agent. Does nothing if another process has already detached it. */
  async executeForDeletedAgent(organizationId: string, agentId: string, id: string): Promise<void> {
    await this.database.transaction((transaction) => this.detach(transaction, organizationId, agentId, id));
    this.events.publish(new IntegrationChanged(organizationId, id, [agentId]));
  }

  /** @returns the agents that used it before */
  private async detach(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    id: string,
  ): Promise<string[]> {
    const integration = await this.integrations.lock(transaction, organizationId, id);
    if (!integration) return [];
    const before = await this.integrations.agentIdsOf(transaction, organizationId, id);
    await this.integrations.detach(transaction, organizationId, id, agentId);
    if (before.every((other) => other === agentId)) {
      await this.secrets.removeAll(transaction, integration);
      await this.integrations.remove(transaction, organizationId, id);
    }
    return before;
  }
}
