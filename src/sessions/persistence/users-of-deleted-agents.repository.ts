import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';

/** What sessions of agents that are gone still know of their users. Of all organizations: for the service's own upkeep. */
@Injectable()
export class UsersOfDeletedAgents {
  constructor(private readonly database: Database) {}

  /** Goes from agent to agent through the index, however many sessions each has. */
  agents(): Promise<DeletedAgent[]> {
    return this.database.query<DeletedAgent>(
      `with recursive holders as (
         (select agent_id, organization_id from sessions where user_key is not null order by agent_id limit 1)
         union all
         select following.agent_id, following.organization_id from holders cross join lateral (
           select agent_id, organization_id from sessions
            where user_key is not null and sessions.agent_id > holders.agent_id order by agent_id limit 1
         ) following
       )
       select organization_id::text as "organizationId", agent_id::text as "agentId" from holders
        where not exists (select 1 from agents where agents.id = holders.agent_id)`,
    );
  }

  /** @returns whether there may be more */
  async forgetSome({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const rows = await this.database.query(
      `update sessions set end_user_salt = null, end_user_digest = null, user_key = null
        where id = any(array(
          select id from sessions where agent_id = $2::uuid and organization_id = $1::uuid and user_key is not null
             and not exists (select 1 from agents where agents.id = $2::uuid) limit $3::integer))
       returning 1`,
      [organizationId, agentId, limit],
    );
    return rows.length === limit;
  }
}
