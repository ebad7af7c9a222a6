import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';
import { EMBED_MISSING_EVERY_MINUTES } from '../limits.js';

/** Apart from their processors, which cause these jobs too. */

/**
 * Gives an agent's chunks their vectors. What the endpoint does is no failure of the job, which comes again after a
 * pause: it never dies of an outage.
 */
export const embedChunks = defineJob({
  name: 'knowledge.embed-chunks',
  payload: z.object({
    organizationId: z.uuid(),
    agentId: z.uuid(),
    /** How often the endpoint has failed, one time after the other. */
    failures: z.int().min(0),
  }),
});

/** Takes up every agent whose chunks lack vectors, whatever became of the job that should have made them. */
export const embedMissing = defineJob({
  name: 'knowledge.embed-missing',
  payload: z.object({}),
  schedule: { everyMinutes: EMBED_MISSING_EVERY_MINUTES, payload: {} },
});
