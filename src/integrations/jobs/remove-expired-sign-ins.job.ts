import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { REMOVE_SIGN_INS_EVERY_MINUTES } from '../../platform/oauth/index.js';
import { OpenSignIns } from '../oauth/open-sign-ins.js';

/** Removes sign-ins that were not completed in time, with their secrets. */
export const removeExpiredSignIns = definePeriodicJob(
  'integrations.remove-expired-sign-ins',
  REMOVE_SIGN_INS_EVERY_MINUTES,
);

@Processor(removeExpiredSignIns.name)
export class RemoveExpiredSignIns extends WorkerHost {
  constructor(private readonly signIns: OpenSignIns) {
    super();
  }

  process({ signal }: ActiveJob): Promise<void> {
    return this.signIns.removeExpired(signal);
  }
}
