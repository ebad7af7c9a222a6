import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { PURGE_BATCH } from '../limits.js';
import { TraceCountsRepository } from '../persistence/trace-counts.repository.js';

/** Deletes what is counted of the traces of deleted agents. Their traces are deleted with the threads. */
@Injectable()
export class DeleteCountsOfAgents implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly counts: TraceCountsRepository,
    private readonly holders: AgentDataHolders,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.counts.deletedAgentsWithCounts();
  }

  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (await this.counts.deleteSomeOfAgent(agent, PURGE_BATCH));
  }
}
