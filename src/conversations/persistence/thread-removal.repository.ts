import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { threads } from './conversations.entities.js';
import {
  REMOVE_EMPTY_WIDGET_THREADS,
  REMOVE_MESSAGES,
  REMOVE_RUNS,
  THREADS_OF_DELETED_AGENT,
} from './thread-removal.sql.js';

/** Of all organizations. Every method is one short statement. */
@Injectable()
export class ThreadRemovalRepository {
  constructor(private readonly database: Database) {}

  async ofDeletedAgent(organizationId: string, agentId: string, limit: number): Promise<string[]> {
    const of = { organizationId, agentId, limit };
    return (await THREADS_OF_DELETED_AGENT.run<{ id: string }>(this.database, of)).map(({ id }) => id);
  }

  async marked(limit: number): Promise<string[]> {
    const options = { fields: ['id'], limit, disableIdentityMap: true } as const;
    const marked = await this.database.read((em) => em.find(threads, { deletedAt: { $ne: null } }, options));
    return marked.map(({ id }) => id);
  }

  /** @returns how many; fewer than `limit` once there are no more */
  async removeMessages(threadIds: readonly string[], limit: number): Promise<number> {
    return (await REMOVE_MESSAGES.run(this.database, { threadIds, limit })).length;
  }

  /** @returns how many; fewer than `limit` once there are no more */
  async removeRuns(threadIds: readonly string[], limit: number): Promise<number> {
    return (await REMOVE_RUNS.run(this.database, { threadIds, limit })).length;
  }

  /** The foreign keys remove messages and runs that were added since. */
  async removeThreads(threadIds: readonly string[]): Promise<void> {
    await this.database.write((em) => em.nativeDelete(threads, { id: { $in: [...threadIds] } }));
  }

  async removeEmptyWidgetThreads(before: Date, limit: number): Promise<{ organizationId: string; id: string }[]> {
    const rows = await REMOVE_EMPTY_WIDGET_THREADS.run<{ organization_id: string; id: string }>(this.database, {
      before,
      limit,
    });
    return rows.map((row) => ({ organizationId: row.organization_id, id: row.id }));
  }
}
