import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { REMOVE_SIGN_INS_EVERY_MINUTES } from '../../platform/oauth/index.js';
import { OpenSignIns } from '../oauth/open-sign-ins.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Removes sign-ins that were not completed in time, with their secrets. */
export const removeExpiredSignIns = defineJob({
  name: 'integrations.remove-expired-sign-ins',
  payload,
  schedule: { everyMinutes: REMOVE_SIGN_INS_EVERY_MINUTES, payload: {} },
});

@Processor(removeExpiredSignIns.name)
export class RemoveExpiredSignIns extends WorkerHost {
  constructor(private readonly signIns: OpenSignIns) {
    super();
  }

  process({ signal }: ActiveJob<Payload>): Promise<void> {
    return this.signIns.removeExpired(signal);
  }
}
