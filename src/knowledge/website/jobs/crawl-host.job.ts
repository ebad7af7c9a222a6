import type { z } from 'zod';
import { type ActiveJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { CrawlHost } from '../application/crawl-host.js';
import { HOSTS_AT_ONCE } from '../limits.js';
import { crawlHost } from './crawl.jobs.js';

@Processor(crawlHost.name, { concurrency: HOSTS_AT_ONCE })
export class CrawlHostProcessor extends WorkerHost {
  constructor(private readonly host: CrawlHost) {
    super();
  }

  async process({ data: { origin }, signal }: ActiveJob<z.output<typeof crawlHost.payload>>): Promise<void> {
    await this.host.execute(origin, signal);
  }
}
