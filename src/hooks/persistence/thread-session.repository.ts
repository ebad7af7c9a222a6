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

/** The start of a thread as it is stored. */
export type StoredSession =
  | { readonly state: 'ended'; readonly session: ThreadSession }
  /** This run has to see to it. */
  | { readonly state: 'claimed' }
  /** Another run is at it, or died of it. */
  | { readonly state: 'under_way'; readonly remainingMs: number };

@Injectable()
export class ThreadSessionRepository {
  constructor(private readonly database: Database) {}

  /**
   * @param allowedMs how long the run may be at it before others take it for lost
   * @returns null where the thread began without, and a run has replied since
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

  /** Tells what came of a start that this run has claimed. @returns whether it is the first to be told */
  async end({ threadId, organizationId, runId }: ThreadOfRun, session: ThreadSession): Promise<boolean> {
    return (await END_SESSION.run(this.database, { threadId, organizationId, runId, session })).length > 0;
  }

  /** The same of a start whose time is over without a word. */
  async giveUp({ threadId, organizationId }: Omit<ThreadOfRun, 'runId'>, session: ThreadSession): Promise<boolean> {
    return (await END_SESSION.run(this.database, { threadId, organizationId, runId: null, session })).length > 0;
  }
}

function stored(threadId: string, [row]: readonly SessionRow[]): StoredSession | null {
  if (!row) return null;
  const session = SESSION.readNullable(row.session, threadId);
  if (session) return { state: 'ended', session };
  return row.is_own ? { state: 'claimed' } : { state: 'under_way', remainingMs: row.remaining_ms };
}
