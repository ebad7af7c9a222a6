import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { CHECK_BATCH, REMOVE_BATCH } from '../limits.js';
import { WebsiteRepository } from '../persistence/website.repository.js';

@Injectable()
export class RemoveWebsitesOfDeletedAgents implements AgentDataHolder {
  constructor(
    private readonly websites: WebsiteRepository,
    agentData: AgentDataHolders,
  ) {
    agentData.register(this);
  }

  deletedAgents(): Promise<readonly DeletedAgent[]> {
    return this.websites.findDeletedAgents(CHECK_BATCH);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    // First: without the website's row no crawl can add pages.
    await this.websites.deleteOfDeletedAgent(agent);
    let removed: number;
    do {
      signal.throwIfAborted();
      removed = await this.websites.deletePagesOfDeletedAgent(agent, REMOVE_BATCH);
    } while (removed === REMOVE_BATCH);
  }
}
