import { z } from 'zod';
import { defineJob } from '../../platform/jobs/index.js';

/** Embeds the memories of a user. A failure of the endpoint does not fail the job: the next save or search enqueues it again. */
export const embedMemories = defineJob({
  name: 'memory.embed-memories',
  // A user's key has the form of a UUID but is not a valid one.
  payload: z.object({ organizationId: z.uuid(), agentId: z.uuid(), userKey: z.guid() }),
});
