import { z } from 'zod';
import { defineJob } from '../../../../platform/jobs/index.js';

export const sourcePayload = z.object({ organizationId: z.uuid(), sourceId: z.uuid() });
export type SourcePayload = z.output<typeof sourcePayload>;

/** One step of a source's sync; each enqueues the next. */
export const syncDrive = defineJob({ name: 'knowledge.sync-drive', payload: sourcePayload });

/** Removes the documents of a source that is removed, and then the source. */
export const removeDriveSource = defineJob({ name: 'knowledge.remove-drive-source', payload: sourcePayload });
