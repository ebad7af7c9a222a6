import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { RekeyUsers } from '../application/rekey-users.js';

const payload = z.object({});

/**
 * Re-keys the columns that the start of a process does not re-key, and rows that processes of the previous release
 * still write.
 */
export const rekeyUsers = defineJob({
  name: 'conversations.rekey-users',
  payload,
  schedule: { everyMinutes: 1, payload: {} },
});

@Processor(rekeyUsers.name)
export class RekeyUsersJob extends WorkerHost {
  constructor(private readonly users: RekeyUsers) {
    super();
  }

  process({ signal }: ActiveJob<z.output<typeof payload>>): Promise<void> {
    return this.users.rekeyAllColumns(signal);
  }
}
