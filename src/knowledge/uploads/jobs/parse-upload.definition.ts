import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';
import { PARSE_ATTEMPTS, PARSE_BACKOFF_SECONDS } from '../limits.js';

const payload = z.object({ organizationId: z.uuid(), agentId: z.uuid(), fileId: z.uuid() });
export type ParseUploadPayload = z.output<typeof payload>;

/** Of a file whose turn it is; its end gives the turn to the next one. */
export const parseUpload = defineJob({
  name: 'knowledge.parse-upload',
  payload,
  retry: { attempts: PARSE_ATTEMPTS, backoffSeconds: PARSE_BACKOFF_SECONDS },
});
