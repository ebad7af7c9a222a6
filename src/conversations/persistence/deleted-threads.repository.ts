import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';

/** From one agent to the next along the index by agent: what it costs grows with the agents, not with their threads. */
const LEFT_BEHIND_SQL = `
  with recursive owners as (
    (select agent_id, organization_id from threads order by agent_id limit 1)
    union all
    select next.agent_id, next.organization_id from owners cross join lateral (
      select agent_id, organization_id from threads where threads.agent_id > owners.agent_id order by agent_id limit 1
    ) next
  )
  select agent_id, organization_id from owners
  where not exists (select 1 from agents where agents.id = owners.agent_id)`;

/**
 * Threads that are gone for every reader, and their rows. Every method is one short statement; rows that another
 * caller is removing are left to that one.
 */
@Injectable()
export class DeletedThreads {
  constructor(private readonly database: Database) {}

  /** Agents that are gone and have threads left. */
  async leftBehind(): Promise<DeletedAgent[]> {
    const rows = await this.database.query<{ agent_id: string; organization_id: string }>(LEFT_BEHIND_SQL);
    return rows.map((row) => ({ agentId: row.agent_id, organizationId: row.organization_id }));
  }

  /** Some threads of an agent; none while the agent is there. */
  async ofAgent(organizationId: string, agentId: string, limit: number): Promise<string[]> {
    return this.ids(
      `select id from threads where organization_id = $1 and agent_id = $2
         and not exists (select 1 from agents where id = $2) limit $3`,
      [organizationId, agentId, limit],
    );
  }

  /** Some of the threads that were deleted by themselves, of any organization. */
  async marked(limit: number): Promise<string[]> {
    return this.ids('select id from threads where deleted_at is not null limit $1', [limit]);
  }

  /** @returns how many; fewer than `limit` once there are no more */
  async removeMessages(threadIds: readonly string[], limit: number): Promise<number> {
    return this.removeOf('messages', threadIds, limit);
  }

  /** @returns how many; fewer than `limit` once there are no more */
  async removeRuns(threadIds: readonly string[], limit: number): Promise<number> {
    return this.removeOf('runs', threadIds, limit);
  }

  /** What was added to them meanwhile goes with them. */
  async removeThreads(threadIds: readonly string[]): Promise<void> {
    await this.database.query('delete from threads where id = any($1::uuid[])', [threadIds]);
  }

  private async removeOf(table: 'messages' | 'runs', threadIds: readonly string[], limit: number): Promise<number> {
    const removed = await this.ids(
      `delete from ${table} where id in (
         select id from ${table} where thread_id = any($1::uuid[]) limit $2 for update skip locked
       ) returning id`,
      [threadIds, limit],
    );
    return removed.length;
  }

  private async ids(sql: string, parameters: readonly unknown[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(sql, parameters);
    return rows.map(({ id }) => id);
  }
}
