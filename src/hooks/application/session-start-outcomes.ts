import { Injectable } from '@nestjs/common';
import type { SessionStartOutcome } from '../domain/session-start.js';
import { ThreadSessionRepository } from '../persistence/thread-session.repository.js';

/** What came of the session-start hooks of threads, for whoever shows them. */
@Injectable()
export class SessionStartOutcomes {
  constructor(private readonly sessions: ThreadSessionRepository) {}

  /** @returns null where none ran on the thread, or it is not over yet */
  async of(organizationId: string, threadId: string): Promise<SessionStartOutcome | null> {
    const stored = await this.sessions.find({ organizationId, threadId });
    return stored?.state === 'ended' ? stored.session.hook : null;
  }
}
