import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';

/** Apart from their processors, which call the use cases that enqueue these jobs. */
const payload = z.object({ organizationId: z.uuid(), sourceId: z.uuid() });

/** One step of a source's sync; the end of each enqueues the next. */
export const syncDrive = defineJob({ name: 'knowledge.sync-drive', payload });

/** Removes the documents of a source that is marked as removed, and then the source. */
export const removeDriveSource = defineJob({ name: 'knowledge.remove-drive-source', payload });
