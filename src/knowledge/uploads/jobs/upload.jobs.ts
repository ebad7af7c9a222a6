import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';
import { PARSE_ATTEMPTS, PARSE_BACKOFF_SECONDS } from '../limits.js';

/** Apart from their processors, which call the use cases that enqueue these jobs. */

/** Of a file whose turn it is; its end gives the turn to the next one. */
export const parseUpload = defineJob({
  name: 'knowledge.parse-upload',
  payload: z.object({ organizationId: z.uuid(), agentId: z.uuid(), fileId: z.uuid() }),
  retry: { attempts: PARSE_ATTEMPTS, backoffSeconds: PARSE_BACKOFF_SECONDS },
});

/** Removes the bytes of a deleted file, and what its deletion could not remove. */
export const removeUpload = defineJob({
  name: 'knowledge.remove-upload',
  payload: z.object({ organizationId: z.uuid(), fileId: z.uuid() }),
});
