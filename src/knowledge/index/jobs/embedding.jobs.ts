import { z } from 'zod';
import { defineJob, definePeriodicJob } from '../../../platform/jobs/index.js';
import { EMBED_MISSING_EVERY_MINUTES } from '../limits.js';

/* These definitions are not in the files of their processors, because the processors enqueue the jobs too. */

/** Makes the vectors of an agent's chunks. If the endpoint fails, the job enqueues itself with a delay, so that an outage uses up no attempts. */
export const embedChunks = defineJob({
  name: 'knowledge.embed-chunks',
  payload: z.object({
    organizationId: z.uuid(),
    agentId: z.uuid(),
    /** Consecutive failures of the endpoint. */
    failures: z.int().min(0),
  }),
});

/** Finds all agents whose chunks lack vectors, and enqueues their jobs again in case those were lost. */
export const embedMissing = definePeriodicJob('knowledge.embed-missing', EMBED_MISSING_EVERY_MINUTES);
