import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { Settings } from '../../platform/config/index.js';
import { PURGE_BATCH, PURGE_EVERY_MINUTES, SESSION_KEPT_DAYS, SIGNING_KEY_DAYS } from '../limits.js';
import { SessionRepository } from '../persistence/session.repository.js';
import { SigningKeyRepository } from '../persistence/signing-key.repository.js';

const DAY_MS = 86_400_000;

/** Removes sessions that ended long ago, and keys of which no pass can still be valid. */
export const purgeSessions = definePeriodicJob('sessions.purge', PURGE_EVERY_MINUTES);

@Processor(purgeSessions.name)
export class PurgeSessions extends WorkerHost {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly signingKeys: SigningKeyRepository,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const now = this.clock.now().getTime();
    const before = new Date(now - SESSION_KEPT_DAYS * DAY_MS);
    do signal.throwIfAborted();
    while (await this.sessions.removeSomeExpired(before, PURGE_BATCH));
    signal.throwIfAborted();
    // A key signs for its life, and its last pass is valid after that. The second life allows for clocks that differ and late successors.
    const passMs = this.settings.sessions.passSeconds * 1000;
    await this.signingKeys.purge(new Date(now - 2 * SIGNING_KEY_DAYS * DAY_MS - passMs));
  }
}
