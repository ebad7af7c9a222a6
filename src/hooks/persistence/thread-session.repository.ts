import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { ThreadSession } from '../domain/session-start.js';
import { SESSION } from './hooks.schema.js';
import { CLAIM_SESSION, END_SESSION, FIND_SESSION, type SessionRow } from './thread-sessions.sql.js';

export interface ThreadOfRun {
  readonly organizationId: string;
  readonly threadId: string;
  readonly runId: string;
}

export type StoredSession =
  | { readonly state: 'ended'; readonly session: ThreadSession }
  /** This run has claimed the start. */
  | { readonly state: 'claimed' }
  /** Another run has claimed the start and has not ended it; it may have died. */
  | { readonly state: 'under_way'; readonly remainingMs: number };

@Injectable()
export class ThreadSessionRepository {
  constructor(private readonly database: Database) {}

  /**
   * @param allowedMs after this time other runs count this one as dead
   * @returns null when the thread has no session and a run has already replied
   */
  async claim({ threadId, organizationId, runId }: ThreadOfRun, allowedMs: number): Promise<StoredSession | null> {
    return stored(
      threadId,
      await CLAIM_SESSION.run<SessionRow>(this.database, { threadId, organizationId, runId, allowedMs }),
    );
  }

  async find({ threadId, organizationId }: Omit<ThreadOfRun, 'runId'>): Promise<StoredSession | null> {
    return stored(threadId, await FIND_SESSION.run<SessionRow>(this.database, { threadId, organizationId }));
  }

  /** Stores the outcome of a start that this run has claimed. @returns false when another outcome is already stored */
  async end({ threadId, organizationId, runId }: ThreadOfRun, session: ThreadSession): Promise<boolean> {
    return (await END_SESSION.run(this.database, { threadId, organizationId, runId, session })).length > 0;
  }

  /** Stores the outcome of a start whose claim has expired. @returns false when another outcome is already stored */
  async endExpired({ threadId, organizationId }: Omit<ThreadOfRun, 'runId'>, session: ThreadSession): Promise<boolean> {
    return (await END_SESSION.run(this.database, { threadId, organizationId, runId: null, session })).length > 0;
  }
}

function stored(threadId: string, [row]: readonly SessionRow[]): StoredSession | null {
  if (!row) return null;
  const session = SESSION.readNullable(row.session, threadId);
  if (session) return { state: 'ended', session };
  return row.is_own ? { state: 'claimed' } : { state: 'under_way', remainingMs: row.remaining_ms };
}
