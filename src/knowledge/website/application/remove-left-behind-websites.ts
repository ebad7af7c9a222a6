import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../../agents/index.js';
import { CrawlSchedule } from '../persistence/crawl-schedule.repository.js';
import { CHECK_BATCH, REMOVE_BATCH } from '../limits.js';

/** Removes the websites of agents that are gone, and what their crawls knew of pages, in batches. */
@Injectable()
export class RemoveLeftBehindWebsites implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly schedule: CrawlSchedule,
    private readonly agentData: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.schedule.deletedAgents(CHECK_BATCH);
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    // Without it no step of a crawl adds pages any more.
    await this.schedule.removeWebsite(agent);
    let removed: number;
    do {
      signal.throwIfAborted();
      removed = await this.schedule.removePages(agent, REMOVE_BATCH);
    } while (removed === REMOVE_BATCH);
  }
}
