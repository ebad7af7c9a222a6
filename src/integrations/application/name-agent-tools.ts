import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { nameTools, type ServerTool } from '../domain/tool-name.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';

/** Gives the tools of an agent the names under which its model sees them, each once and for as long as it is attached. */
@Injectable()
export class NameAgentTools {
  constructor(
    private readonly database: Database,
    private readonly integrations: IntegrationRepository,
  ) {}

  /** @returns their names, in their order; those of tools that had none are stored by then */
  async execute(organizationId: string, agentId: string, tools: readonly ServerTool[]): Promise<readonly string[]> {
    if (tools.length === 0) return [];
    const { names, changed } = nameTools(await this.integrations.toolNames(this.database, organizationId, agentId), tools);
    return changed.size === 0 ? names : this.store(organizationId, agentId, tools);
  }

  /** One after the other for an agent, over all processes: two that offer a new tool at once give it one name. */
  private store(organizationId: string, agentId: string, tools: readonly ServerTool[]): Promise<readonly string[]> {
    return this.database.transaction(async (transaction) => {
      await this.integrations.lockAgent(transaction, organizationId, agentId);
      const { names, changed } = nameTools(await this.integrations.toolNames(transaction, organizationId, agentId), tools);
      await this.integrations.keepToolNames(transaction, organizationId, agentId, changed);
      return names;
    });
  }
}
