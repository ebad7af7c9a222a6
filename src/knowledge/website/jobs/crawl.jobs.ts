import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';

/** Apart from their processors: these jobs cause one another, and the command line, which loads no queue, causes the first. */

/** What is next for one crawl, when it begins and when all of its pages have an outcome. One that lost its jobs is found by `knowledge.keep-crawls`. */
export const crawlStep = defineJob({
  name: 'knowledge.crawl-step',
  payload: z.object({ organizationId: z.uuid(), agentId: z.uuid(), crawlId: z.uuid() }),
  retry: { attempts: 5, backoffSeconds: 2 },
});

/** Some seconds' worth of what all crawls have to ask one origin for. */
export const crawlHost = defineJob({
  name: 'knowledge.crawl-host',
  payload: z.object({ origin: z.string() }),
  retry: { attempts: 5, backoffSeconds: 2 },
});
