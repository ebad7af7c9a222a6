import { Injectable } from '@nestjs/common';
import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { type ThreadDataHolder, ThreadDataHolders } from '../../conversations/index.js';
import { PURGE_BATCH } from '../limits.js';
import { TraceCountsRepository } from '../persistence/trace-counts.repository.js';
import { TraceRepository } from '../persistence/trace.repository.js';

/**
 * Deletes the traces of deleted threads, because they hold the text of the conversation, and what is counted of the traces of
 * deleted agents.
 */
@Injectable()
export class DeleteTraceData implements AgentDataHolder, ThreadDataHolder {
  /** Every run and suggestion of an agent counts there. */
  readonly tables = [{ name: 'agent_usage' }];

  constructor(
    private readonly traces: TraceRepository,
    private readonly counts: TraceCountsRepository,
    agents: AgentDataHolders,
    threads: ThreadDataHolders,
  ) {
    agents.register(this);
    threads.register(this);
  }

  removeSome(threadIds: readonly string[], limit: number): Promise<number> {
    return this.traces.deleteOfThreads(threadIds, limit);
  }

  /** The traces first: the removal of one that is counted adds a row to the counts, also when its thread is removed. */
  async remove(agent: DeletedAgent, signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while ((await this.traces.deleteOfAgent(agent, PURGE_BATCH)) > 0);
    do signal.throwIfAborted();
    while (await this.counts.deleteSomeOfAgent(agent, PURGE_BATCH));
  }
}
