import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { RemoveDeletedThreads } from '../application/remove-deleted-threads.js';

const EVERY_MINUTES = 60;

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Removes threads that were too large for their deletion. The schedule repeats it in case a job has failed. */
export const removeDeletedThreads = defineJob({
  name: 'conversations.remove-deleted-threads',
  payload,
  schedule: { everyMinutes: EVERY_MINUTES, payload: {} },
});

@Processor(removeDeletedThreads.name)
export class RemoveDeletedThreadsJob extends WorkerHost {
  constructor(private readonly threads: RemoveDeletedThreads) {
    super();
  }

  process({ signal }: ActiveJob<Payload>): Promise<void> {
    return this.threads.removeMarked(signal);
  }
}
