import { Injectable } from '@nestjs/common';
import type { SessionStartOutcome } from '../domain/session-start.js';
import { ThreadSessionRepository } from '../persistence/thread-session.repository.js';

/** The outcomes of session-start hooks, for other contexts. */
@Injectable()
export class SessionStartOutcomes {
  constructor(private readonly sessions: ThreadSessionRepository) {}

  /** @returns null when no hook ran for the thread, or has not ended yet */
  async of(organizationId: string, threadId: string): Promise<SessionStartOutcome | null> {
    const stored = await this.sessions.find({ organizationId, threadId });
    return stored?.state === 'ended' ? stored.session.hook : null;
  }
}
