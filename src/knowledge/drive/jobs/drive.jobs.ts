import { z } from 'zod';
import { defineJob } from '../../../platform/jobs/index.js';

/** In a file without their processors: the use cases that enqueue these jobs import it. */
const payload = z.object({ organizationId: z.uuid(), sourceId: z.uuid() });

/** One step of a source's sync. Each step enqueues the next. */
export const syncDrive = defineJob({ name: 'knowledge.sync-drive', payload });

/** Deletes the documents of a source that is marked as removed, and then the source. */
export const removeDriveSource = defineJob({ name: 'knowledge.remove-drive-source', payload });
