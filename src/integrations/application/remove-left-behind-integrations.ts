import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { LeftBehindIntegrations } from '../persistence/left-behind-integrations.repository.js';
import { RemoveIntegration } from './remove-integration.js';

/** Takes integrations from agents that are gone, each in a transaction of its own. */
@Injectable()
export class RemoveLeftBehindIntegrations implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly integrations: LeftBehindIntegrations,
    private readonly removeIntegration: RemoveIntegration,
    private readonly agentData: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.integrations.agents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    for (const id of await this.integrations.integrationsOf(agent)) {
      signal.throwIfAborted();
      await this.removeIntegration.leftBehind(agent.organizationId, agent.agentId, id);
    }
  }
}
