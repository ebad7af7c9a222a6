import { type AgentDataHolder, AgentDataHolders, type DeletedAgent } from '../../agents/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { ThreadRemoval, THREADS_AT_ONCE } from '../application/thread-removal.js';
import { ThreadRemovalRepository } from '../persistence/thread-removal.repository.js';

const EVERY_MINUTES = 60;

/** Removes threads that were too large for their deletion. The schedule repeats it in case a job has failed. */
export const removeDeletedThreads = definePeriodicJob('conversations.remove-deleted-threads', EVERY_MINUTES);

@Processor(removeDeletedThreads.name)
export class RemoveDeletedThreads extends WorkerHost implements AgentDataHolder {
  readonly tables = [{ name: 'threads' }];

  constructor(
    private readonly threads: ThreadRemovalRepository,
    agentData: AgentDataHolders,
    private readonly removal: ThreadRemoval,
  ) {
    super();
    agentData.register(this);
  }

  remove({ organizationId, agentId }: DeletedAgent, signal: AbortSignal): Promise<void> {
    return this.removal.removeAll(() => this.threads.ofDeletedAgent(organizationId, agentId, THREADS_AT_ONCE), signal);
  }

  process({ signal }: ActiveJob): Promise<void> {
    return this.removal.removeAll(() => this.threads.marked(THREADS_AT_ONCE), signal);
  }
}
