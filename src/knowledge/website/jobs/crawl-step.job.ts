import type { z } from 'zod';
import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { CrawlStep } from '../application/crawl-step.js';
import { STEPS_AT_ONCE } from '../limits.js';
import { crawlStep } from './crawl.jobs.js';

@Processor(crawlStep.name, { concurrency: STEPS_AT_ONCE })
export class CrawlStepProcessor extends WorkerHost {
  constructor(private readonly step: CrawlStep) {
    super();
  }

  async process({ data, signal }: ActiveJob<z.output<typeof crawlStep.payload>>): Promise<void> {
    await this.step.execute(data, signal);
  }
}
