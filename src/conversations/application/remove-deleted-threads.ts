import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { DeletedThreads } from '../persistence/deleted-threads.repository.js';
import { ThreadDataHolders } from './thread-data-holders.js';

/** Few enough that each statement is short, many enough that small threads do not cost several statements each. */
const THREADS_AT_ONCE = 100;
const ROWS_AT_ONCE = 500;

/**
 * Removes the rows of threads that are gone for every reader: batch after batch, each a transaction of its own, the
 * thread's row last, so that whoever goes on after a break finds what is left.
 */
@Injectable()
export class RemoveDeletedThreads implements AgentDataHolder, OnModuleInit {
  constructor(
    private readonly threads: DeletedThreads,
    private readonly agentData: AgentDataHolders,
    private readonly threadData: ThreadDataHolders,
  ) {}

  onModuleInit(): void {
    this.agentData.register(this);
  }

  leftBehind(): Promise<readonly DeletedAgent[]> {
    return this.threads.leftBehind();
  }

  remove({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    return this.removeAll(() => this.threads.ofAgent(organizationId, agentId, THREADS_AT_ONCE), signal);
  }

  /** Those that were deleted by themselves. */
  removeMarked(signal: AbortSignal): Promise<void> {
    return this.removeAll(() => this.threads.marked(THREADS_AT_ONCE), signal);
  }

  private async removeAll(next: () => Promise<string[]>, signal: AbortSignal): Promise<void> {
    for (let ids = await next(); ids.length > 0; ids = await next()) {
      for (const holder of this.threadData.all) await emptied(() => holder.removeSome(ids, ROWS_AT_ONCE), signal);
      await emptied(() => this.threads.removeMessages(ids, ROWS_AT_ONCE), signal);
      await emptied(() => this.threads.removeRuns(ids, ROWS_AT_ONCE), signal);
      signal.throwIfAborted();
      await this.threads.removeThreads(ids);
    }
  }
}

async function emptied(removeSome: () => Promise<number>, signal: AbortSignal): Promise<void> {
  do signal.throwIfAborted();
  while ((await removeSome()) === ROWS_AT_ONCE);
}
