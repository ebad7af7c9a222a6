import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { REMOVE_SIGN_INS_EVERY_MINUTES } from '../../../platform/oauth/index.js';
import { DriveSignIns } from '../application/sign-in/drive-sign-ins.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Removes sign-ins that were not completed in time, with their secrets. */
export const removeDriveSignIns = defineJob({
  name: 'knowledge.remove-drive-sign-ins',
  payload,
  schedule: { everyMinutes: REMOVE_SIGN_INS_EVERY_MINUTES, payload: {} },
});

@Processor(removeDriveSignIns.name)
export class RemoveDriveSignIns extends WorkerHost {
  constructor(private readonly signIns: DriveSignIns) {
    super();
  }

  process({ signal }: ActiveJob<Payload>): Promise<void> {
    return this.signIns.removeExpired(signal);
  }
}
