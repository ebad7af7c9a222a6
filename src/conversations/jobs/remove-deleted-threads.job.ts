import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { defineJob, type JobContext, JobHandler } from '../../platform/jobs/index.js';
import { RemoveDeletedThreads } from '../application/remove-deleted-threads.js';

const EVERY_MINUTES = 60;

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Removes threads that were too large for their deletion; the schedule finds those whose own job has died. */
export const removeDeletedThreads = defineJob({
  name: 'conversations.remove-deleted-threads',
  payload,
  schedule: { everyMinutes: EVERY_MINUTES, payload: {} },
});

@Injectable()
export class RemoveDeletedThreadsJob extends JobHandler<Payload> {
  readonly job = removeDeletedThreads;

  constructor(private readonly threads: RemoveDeletedThreads) {
    super();
  }

  run(_payload: Payload, { signal }: JobContext): Promise<void> {
    return this.threads.removeMarked(signal);
  }
}
