import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';
import { PARSE_ATTEMPTS, PARSE_BACKOFF_SECONDS } from '../limits.js';

/** These definitions are not in the files of their processors, because those import the use cases that enqueue the jobs. */

/** Parses a file that has a slot, and then releases the slot. */
export const parseUpload = defineJob({
  name: 'knowledge.parse-upload',
  payload: z.object({ organizationId: z.uuid(), agentId: z.uuid(), fileId: z.uuid() }),
  retry: { attempts: PARSE_ATTEMPTS, backoffSeconds: PARSE_BACKOFF_SECONDS },
});

/** Removes the content of a deleted upload, and the parts of its document that are left. */
export const removeUpload = defineJob({
  name: 'knowledge.remove-upload',
  payload: z.object({ organizationId: z.uuid(), fileId: z.uuid() }),
});
