import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { ThreadDataHolders } from '../application/thread-data-holders.js';
import { ThreadRemovalRepository } from '../persistence/thread-removal.repository.js';

const EVERY_MINUTES = 60;

/** A compromise: short statements, and not several statements for each small thread. */
const THREADS_AT_ONCE = 100;
const ROWS_AT_ONCE = 500;

/** Removes threads that were too large for their deletion. The schedule repeats it in case a job has failed. */
export const removeDeletedThreads = definePeriodicJob('conversations.remove-deleted-threads', EVERY_MINUTES);

/**
 * Removes the rows of deleted threads in batches, each in its own transaction. The thread's row comes last, so that a
 * repeated job finds what an interrupted one has left.
 */
@Processor(removeDeletedThreads.name)
export class RemoveDeletedThreads extends WorkerHost implements AgentDataHolder {
  readonly tables = [{ name: 'threads' }];

  constructor(
    private readonly threads: ThreadRemovalRepository,
    agentData: AgentDataHolders,
    private readonly threadData: ThreadDataHolders,
  ) {
    super();
    agentData.register(this);
  }

  remove({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    return this.removeAll(() => this.threads.ofDeletedAgent(organizationId, agentId, THREADS_AT_ONCE), signal);
  }

  process({ signal }: ActiveJob): Promise<void> {
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
