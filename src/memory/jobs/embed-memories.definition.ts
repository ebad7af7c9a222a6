import { z } from 'zod';
import { defineJob } from '../../platform/jobs/index.js';

/** A user's key has the form of a UUID and is none. */
export const embedMemoriesPayload = z.object({ organizationId: z.uuid(), agentId: z.uuid(), userKey: z.guid() });

/**
 * Gives the memories of a user their vectors. What the endpoint does is no failure of the job: until it answers memories are
 * found by words, and the next save or search asks for the job again.
 */
export const embedMemories = defineJob({ name: 'memory.embed-memories', payload: embedMemoriesPayload });
