import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, rowsOf } from '../../platform/database/index.js';
import type { Reaction, ReactionName } from '../domain/message.js';
import { REACTION, tables } from './conversations.entities.js';
import { isThere } from './thread.sql.js';

@Injectable()
export class ReactionRepository {
  constructor(private readonly database: Database) {}

  async find(organizationId: string, messageId: string): Promise<Reaction | null> {
    const found = tables
      .selectFrom('messages')
      .select('reaction')
      .where('organization_id', '=', organizationId)
      .where('id', '=', messageId);
    const [row] = await rowsOf(this.database, found);
    return REACTION.readNullable(row?.reaction, messageId);
  }

  /** Of the replies of an agent's runs that started within the range, in threads that are there; few messages have a reaction, and only those are looked at. */
  async count(
    organizationId: string,
    agentId: string,
    { from, to }: { readonly from: Date; readonly to: Date },
  ): Promise<{ reaction: ReactionName; count: number }[]> {
    const reaction = sql<ReactionName>`messages.reaction ->> 'reaction'`;
    return rowsOf(
      this.database,
      tables
        .selectFrom('messages')
        .innerJoin('threads', 'threads.id', 'messages.thread_id')
        .innerJoin('runs', 'runs.id', 'messages.run_id')
        .select([reaction.as('reaction'), sql<number>`count(*)::int`.as('count')])
        .where('messages.organization_id', '=', organizationId)
        .where(sql<boolean>`messages.reaction is not null`)
        .where('runs.created_at', '>=', from.toISOString())
        .where('runs.created_at', '<', to.toISOString())
        // No reply is older than its run; of reactions the index finds the later ones.
        .where('messages.created_at', '>=', from.toISOString())
        .where('threads.agent_id', '=', agentId)
        .where(sql<boolean>`${sql.raw(isThere('threads'))}`)
        .groupBy(reaction)
        .orderBy(reaction),
    );
  }
}
