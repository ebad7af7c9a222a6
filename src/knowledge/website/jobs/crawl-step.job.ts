import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';

const payload = z.object({ organizationId: z.uuid(), agentId: z.uuid(), crawlId: z.uuid() });

/** Some pages of one crawl. A crawl that lost all its steps is found by `knowledge.keep-crawls`. */
export const crawlStep = defineJob({ name: 'knowledge.crawl-step', payload, retry: { attempts: 5, backoffSeconds: 2 } });
