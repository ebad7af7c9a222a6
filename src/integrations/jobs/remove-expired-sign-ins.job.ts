import { z } from 'zod';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { REMOVE_BATCH, REMOVE_SIGN_INS_EVERY_MINUTES } from '../oauth/limits.js';
import { OAuthSecrets } from '../oauth/oauth-secrets.js';
import { OAuthSignInRepository } from '../persistence/oauth-sign-in.repository.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Removes sign-ins that nobody completed in time, with their secrets. */
export const removeExpiredSignIns = defineJob({
  name: 'integrations.remove-expired-sign-ins',
  payload,
  schedule: { everyMinutes: REMOVE_SIGN_INS_EVERY_MINUTES, payload: {} },
});

@Processor(removeExpiredSignIns.name)
export class RemoveExpiredSignIns extends WorkerHost {
  constructor(
    private readonly signIns: OAuthSignInRepository,
    private readonly secrets: OAuthSecrets,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob<Payload>): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const expired = await this.signIns.expired(this.clock.now(), REMOVE_BATCH);
      for (const signIn of expired) {
        await this.database.transaction(async (transaction) => {
          await this.signIns.removeOne(transaction, signIn.stateDigest);
          await this.secrets.removeSignIn(transaction, signIn, signIn.stateDigest);
        });
      }
      if (expired.length < REMOVE_BATCH) return;
    }
  }
}
