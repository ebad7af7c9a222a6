import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { REMOVE_BATCH } from '../limits.js';
import { WebsiteRepository } from '../persistence/website.repository.js';

@Injectable()
export class RemoveWebsitesOfDeletedAgents implements AgentDataHolder {
  readonly tables = [{ name: 'knowledge_websites' }, { name: 'knowledge_website_pages' }];

  constructor(
    private readonly websites: WebsiteRepository,
    agentData: AgentDataHolders,
  ) {
    agentData.register(this);
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
