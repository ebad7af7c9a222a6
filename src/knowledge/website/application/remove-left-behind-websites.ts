import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { CHECK_BATCH, REMOVE_BATCH } from '../limits.js';
import { LeftBehindWebsites } from '../persistence/left-behind-websites.repository.js';

/** Removes the websites and pages of deleted agents, in batches. */
@Injectable()
export class RemoveLeftBehindWebsites implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly websites: LeftBehindWebsites,
    private readonly agentData: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.websites.agents(CHECK_BATCH);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    // First: without the website's row no crawl can add pages.
    await this.websites.deleteWebsite(agent);
    let removed: number;
    do {
      signal.throwIfAborted();
      removed = await this.websites.deletePages(agent, REMOVE_BATCH);
    } while (removed === REMOVE_BATCH);
  }
}
