import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { ThreadRemovalRepository } from '../persistence/thread-removal.repository.js';
import { ThreadDataHolders } from './thread-data-holders.js';

/** A compromise: short statements, and not several statements for each small thread. */
const THREADS_AT_ONCE = 100;
const ROWS_AT_ONCE = 500;

/**
 * Removes the rows of deleted threads in batches, each in its own transaction. The thread's row comes last, so that a
 * repeated job finds what an interrupted one has left.
 */
@Injectable()
export class RemoveDeletedThreads implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly threads: ThreadRemovalRepository,
    private readonly agentData: AgentDataHolders,
    private readonly threadData: ThreadDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.threads.deletedAgentsWithThreads();
  }

  remove({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    return this.removeAll(() => this.threads.ofDeletedAgent(organizationId, agentId, THREADS_AT_ONCE), signal);
  }

  /** Removes the threads that are marked as deleted. */
  removeMarked(signal: AbortSignal): Promise<void> {
    return this.removeAll(() => this.threads.marked(THREADS_AT_ONCE), signal);
  }

  private async removeAll(next: () => Promise<string[]>, signal: AbortSignal): Promise<void> {
    for (let ids = await next(); ids.length > 0; ids = await next()) {
      for (const holder of this.threadData.all)
        await removeInBatches(() => holder.removeSome(ids, ROWS_AT_ONCE), signal);
      await removeInBatches(() => this.threads.removeMessages(ids, ROWS_AT_ONCE), signal);
      await removeInBatches(() => this.threads.removeRuns(ids, ROWS_AT_ONCE), signal);
      signal.throwIfAborted();
      await this.threads.removeThreads(ids);
    }
  }
}

async function removeInBatches(removeSome: () => Promise<number>, signal: AbortSignal): Promise<void> {
  do signal.throwIfAborted();
  while ((await removeSome()) === ROWS_AT_ONCE);
}
