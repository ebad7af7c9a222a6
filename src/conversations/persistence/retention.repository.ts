import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { MARK_OLD_THREADS, REMOVE_OLD_EXCHANGES, THREADS_WITH_OLD_MESSAGES } from './retention.sql.js';
import type { ThreadPosition } from './thread.repository.js';
import { LOCK_THREAD } from './thread.sql.js';

/** What an organization no longer keeps. Every method is one short transaction. */
@Injectable()
export class RetentionRepository {
  constructor(private readonly database: Database) {}

  /** Hides threads without activity since `before` from every reader. @returns their ids; their rows are left */
  async markOldThreads(organizationId: string, before: Date, now: Date, limit: number): Promise<string[]> {
    const rows = await MARK_OLD_THREADS.run<{ id: string }>(this.database, { organizationId, before, now, limit });
    return rows.map(({ id }) => id);
  }

  /** Threads with activity since `before` and with older messages. */
  threadsWithOldMessages(
    organizationId: string,
    before: Date,
    after: ThreadPosition | undefined,
    limit: number,
  ): Promise<ThreadPosition[]> {
    const position = { activityAt: after?.activityAt ?? null, afterId: after?.id ?? null };
    return THREADS_WITH_OLD_MESSAGES.run(this.database, { organizationId, before, ...position, limit });
  }

  /**
   * Removes exchanges that ended before `before`, in the thread's first `limit` messages, or its first exchange if that has more.
   * @returns how many messages; 0 once there is nothing to remove
   */
  removeOldExchanges(organizationId: string, threadId: string, before: Date, limit: number): Promise<number> {
    return this.database.transaction(async (transaction) => {
      // A statement of its own: the next one sees what the former holder of the lock has stored.
      const locked = await LOCK_THREAD.run(transaction, { organizationId, id: threadId });
      if (locked.length === 0) return 0;
      const of = { organizationId, threadId, before, limit };
      const [row] = await REMOVE_OLD_EXCHANGES.run<{ removed: number }>(transaction, of);
      return row?.removed ?? 0;
    });
  }
}
