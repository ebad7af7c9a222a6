import { type JobOf, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { CrawlHost } from '../application/crawl-host.js';
import { CrawlStep } from '../application/crawl-step.js';
import { HOSTS_AT_ONCE, STEPS_AT_ONCE } from '../limits.js';
import { crawlHost, crawlStep } from './crawl.jobs.js';

@Processor(crawlStep.name, { concurrency: STEPS_AT_ONCE })
export class CrawlStepProcessor extends WorkerHost {
  constructor(private readonly step: CrawlStep) {
    super();
  }

  async process({ data, signal }: JobOf<typeof crawlStep>): Promise<void> {
    await this.step.execute(data, signal);
  }
}

@Processor(crawlHost.name, { concurrency: HOSTS_AT_ONCE })
export class CrawlHostProcessor extends WorkerHost {
  constructor(private readonly host: CrawlHost) {
    super();
  }

  async process({ data: { origin }, signal }: JobOf<typeof crawlHost>): Promise<void> {
    await this.host.execute(origin, signal);
  }
}
