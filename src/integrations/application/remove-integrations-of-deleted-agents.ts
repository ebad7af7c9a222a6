import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { RemoveIntegration } from './remove-integration.js';

/** Detaches integrations from deleted agents, one transaction each. */
@Injectable()
export class RemoveIntegrationsOfDeletedAgents implements AgentDataHolder {
  readonly tables = [{ name: 'tool_integration_agents' }];

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly removeIntegration: RemoveIntegration,
    agentData: AgentDataHolders,
  ) {
    agentData.register(this);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    for (const id of await this.integrations.idsOfDeletedAgent(agent)) {
      signal.throwIfAborted();
      await this.removeIntegration.executeForDeletedAgent(agent.organizationId, agent.agentId, id);
    }
  }
}
