import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { PURGE_BATCH } from '../limits.js';
import { KeptCountsRepository } from '../persistence/kept-counts.repository.js';

/** Removes what was counted of agents that are gone; the traces themselves go with their threads. */
@Injectable()
export class RemoveLeftBehindCounts implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly counts: KeptCountsRepository,
    private readonly holders: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.counts.agentsLeftBehind();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.counts.removeSome(agent, PURGE_BATCH));
  }
}
