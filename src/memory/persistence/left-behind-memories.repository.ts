import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';

/** What agents that are gone have left. Of all organizations: for the service's own upkeep. */
@Injectable()
export class LeftBehindMemoriesRepository {
  constructor(private readonly database: Database) {}

  /** Goes from agent to agent through the index, however many memories each has. */
  agents(): Promise<DeletedAgent[]> {
    return this.database.query<DeletedAgent>(
      `with recursive holders as (
         (select agent_id, organization_id from memories order by agent_id limit 1)
         union all
         select following.agent_id, following.organization_id from holders cross join lateral (
           select agent_id, organization_id from memories where memories.agent_id > holders.agent_id order by agent_id limit 1
         ) following
       )
       select organization_id::text as "organizationId", agent_id::text as "agentId" from holders
        where not exists (select 1 from agents where agents.id = holders.agent_id)`,
    );
  }

  /** @returns whether there may be more */
  async removeSome({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const rows = await this.database.query(
      `delete from memories where ctid = any(array(
         select ctid from memories where agent_id = $2::uuid and organization_id = $1::uuid
            and not exists (select 1 from agents where agents.id = $2::uuid) limit $3::integer))
       returning 1`,
      [organizationId, agentId, limit],
    );
    return rows.length === limit;
  }
}
