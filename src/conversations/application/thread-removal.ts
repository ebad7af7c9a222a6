import { Injectable } from '@nestjs/common';
import { ThreadRemovalRepository } from '../persistence/thread-removal.repository.js';
import { ThreadDataHolders } from './thread-data-holders.js';

/** A compromise: short statements, and not several statements for each small thread. */
export const THREADS_AT_ONCE = 100;
const ROWS_AT_ONCE = 500;

/**
 * Removes the rows of deleted threads in batches, each in its own transaction. The thread's row comes last, so that a
 * repeated removal finds what an interrupted one has left.
 */
@Injectable()
export class ThreadRemoval {
  constructor(
    private readonly threads: ThreadRemovalRepository,
    private readonly threadData: ThreadDataHolders,
  ) {}

  /** @param next the ids of some more deleted threads; none once all are removed */
  async removeAll(next: () => Promise<readonly string[]>, signal: AbortSignal): Promise<void> {
    for (let ids = await next(); ids.length > 0; ids = await next()) await this.remove(ids, signal);
  }

  private async remove(ids: readonly string[], signal: AbortSignal): Promise<void> {
    for (const holder of this.threadData.all) await removeInBatches(() => holder.removeSome(ids, ROWS_AT_ONCE), signal);
    await removeInBatches(() => this.threads.removeMessages(ids, ROWS_AT_ONCE), signal);
    await removeInBatches(() => this.threads.removeRuns(ids, ROWS_AT_ONCE), signal);
    signal.throwIfAborted();
    await this.threads.removeThreads(ids);
  }
}

async function removeInBatches(removeSome: () => Promise<number>, signal: AbortSignal): Promise<void> {
  do signal.throwIfAborted();
  while ((await removeSome()) === ROWS_AT_ONCE);
}
