import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { KeepCrawls } from '../application/keep-crawls.js';
import { CHECK_EVERY_MINUTES } from '../limits.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Starts crawls that are due, and takes up those that stand still. */
export const keepCrawls = defineJob({
  name: 'knowledge.keep-crawls',
  payload,
  schedule: { everyMinutes: CHECK_EVERY_MINUTES, payload: {} },
});

@Processor(keepCrawls.name)
export class RunKeepCrawls extends WorkerHost {
  constructor(private readonly crawls: KeepCrawls) {
    super();
  }

  async process({ signal }: ActiveJob<Payload>): Promise<void> {
    await this.crawls.execute(signal);
  }
}
