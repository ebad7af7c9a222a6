import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { KeepPostings } from '../application/indexing/keep-postings.js';
import { KEEP_POSTINGS_EVERY_MINUTES } from '../limits.js';

const payload = z.object({});

export const keepPostings = defineJob({ name: 'knowledge.keep-postings', payload, schedule: { everyMinutes: KEEP_POSTINGS_EVERY_MINUTES, payload: {} } });

@Processor(keepPostings.name)
export class KeepPostingsJob extends WorkerHost {
  constructor(private readonly postings: KeepPostings) {
    super();
  }

  process({ signal }: ActiveJob<z.output<typeof payload>>): Promise<void> {
    return this.postings.execute(signal);
  }
}
