import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';

/** In a file without their processors: the use cases that enqueue these jobs, and the command line, import it. */

/** One step of a crawl: when it begins, and whenever all of its pages have an outcome. `scheduleCrawls` enqueues it again where it was lost. */
export const crawlStep = defineJob({
  name: 'knowledge.crawl-step',
  payload: z.object({ organizationId: z.uuid(), agentId: z.uuid(), crawlId: z.uuid() }),
  retry: { attempts: 5, backoffSeconds: 2 },
});

/** Some seconds of work on one origin, for all crawls. */
export const crawlHost = defineJob({
  name: 'knowledge.crawl-host',
  payload: z.object({ origin: z.string() }),
  retry: { attempts: 5, backoffSeconds: 2 },
});
