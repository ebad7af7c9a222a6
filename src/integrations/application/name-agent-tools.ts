import { Injectable } from '@nestjs/common';
import { lockAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { nameTools, type ServerTool } from '../domain/tool-name.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';

/** Gives the tools of an agent the names under which its model sees them. A tool keeps its name while the integration is attached. */
@Injectable()
export class NameAgentTools {
  constructor(
    private readonly database: Database,
    private readonly integrations: IntegrationRepository,
  ) {}

  /** @returns the names in the order of the tools; new names are stored before this returns */
  async execute(organizationId: string, agentId: string, tools: readonly ServerTool[]): Promise<readonly string[]> {
    if (tools.length === 0) return [];
    const { names, changed } = nameTools(
      await this.integrations.toolNames(this.database, organizationId, agentId),
      tools,
    );
    return changed.size === 0 ? names : this.store(organizationId, agentId, tools);
  }

  /** The lock on the agent serializes all processes, so that two that offer a new tool at the same time give it one name. */
  private store(organizationId: string, agentId: string, tools: readonly ServerTool[]): Promise<readonly string[]> {
    return this.database.transaction(async (transaction) => {
      await lockAgent(transaction, organizationId, agentId, 'exclusive');
      const { names, changed } = nameTools(
        await this.integrations.toolNames(transaction, organizationId, agentId),
        tools,
      );
      await this.integrations.saveToolNames(transaction, organizationId, agentId, changed);
      return names;
    });
  }
}
