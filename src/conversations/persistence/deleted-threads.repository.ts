import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { type Compilable, type RawBuilder, sql } from 'kysely';
import { Database, rowsOf } from '../../platform/database/index.js';
import { tables } from './conversations.entities.js';

/** From one agent to the next along the index by agent: what it costs grows with the agents, not with their threads. */
const LEFT_BEHIND = tables
  .withRecursive('owners', (query) =>
    query
      .selectFrom(
        query.selectFrom('threads').select(['agent_id', 'organization_id']).orderBy('agent_id').limit(1).as('first'),
      )
      .selectAll()
      .unionAll((part) =>
        part
          .selectFrom('owners')
          .crossJoinLateral((join) =>
            join
              .selectFrom('threads')
              .select(['threads.agent_id', 'threads.organization_id'])
              .whereRef('threads.agent_id', '>', 'owners.agent_id')
              .orderBy('threads.agent_id')
              .limit(1)
              .as('next'),
          )
          .select(['next.agent_id', 'next.organization_id']),
      ),
  )
  .selectFrom('owners')
  .select(['agent_id', 'organization_id'])
  .where((eb) =>
    eb.not(eb.exists(eb.selectFrom('agents').select('agents.id').whereRef('agents.id', '=', 'owners.agent_id'))),
  );

/**
 * Threads that are gone for every reader, and their rows. Every method is one short statement; rows that another
 * caller is removing are left to that one.
 */
@Injectable()
export class DeletedThreads {
  constructor(private readonly database: Database) {}

  /** Agents that are gone and have threads left. */
  async leftBehind(): Promise<DeletedAgent[]> {
    const rows = await rowsOf(this.database, LEFT_BEHIND);
    return rows.map((row) => ({ agentId: row.agent_id, organizationId: row.organization_id }));
  }

  /** Some threads of an agent; none while the agent is there. */
  ofAgent(organizationId: string, agentId: string, limit: number): Promise<string[]> {
    return this.ids(
      tables
        .selectFrom('threads')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('agent_id', '=', agentId)
        .where((eb) => eb.not(eb.exists(eb.selectFrom('agents').select('agents.id').where('agents.id', '=', agentId))))
        .limit(limit),
    );
  }

  /** Some of the threads that were deleted by themselves, of any organization. */
  marked(limit: number): Promise<string[]> {
    return this.ids(tables.selectFrom('threads').select('id').where('deleted_at', 'is not', null).limit(limit));
  }

  /** @returns how many; fewer than `limit` once there are no more */
  async removeMessages(threadIds: readonly string[], limit: number): Promise<number> {
    const some = tables.selectFrom('messages').select('id').where(of(threadIds)).limit(limit).forUpdate().skipLocked();
    return (await this.ids(tables.deleteFrom('messages').where('id', 'in', some).returning('id'))).length;
  }

  /** @returns how many; fewer than `limit` once there are no more */
  async removeRuns(threadIds: readonly string[], limit: number): Promise<number> {
    const some = tables.selectFrom('runs').select('id').where(of(threadIds)).limit(limit).forUpdate().skipLocked();
    return (await this.ids(tables.deleteFrom('runs').where('id', 'in', some).returning('id'))).length;
  }

  /** What was added to them meanwhile goes with them. */
  async removeThreads(threadIds: readonly string[]): Promise<void> {
    await rowsOf(this.database, tables.deleteFrom('threads').where(sql<boolean>`id = any(${threadIds}::uuid[])`));
  }

  private async ids(query: Compilable<{ id: string }>): Promise<string[]> {
    return (await rowsOf(this.database, query)).map(({ id }) => id);
  }
}

/** One parameter, so that the text is the same for however many. */
function of(threadIds: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`thread_id = any(${threadIds}::uuid[])`;
}
