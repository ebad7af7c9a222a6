import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { REMOVED_AT_ONCE } from '../limits.js';
import { LeftBehindMemoriesRepository } from '../persistence/left-behind-memories.repository.js';

/** Removes the memories of deleted agents. */
@Injectable()
export class RemoveLeftBehindMemories implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly memories: LeftBehindMemoriesRepository,
    private readonly holders: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.memories.deletedAgents();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.memories.removeSome(agent, REMOVED_AT_ONCE));
  }
}
