import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database, statement } from '../../platform/database/index.js';
import { PUBLISH_ALONE } from './publish-traces.sql.js';

const TABLES = ['trace_counts', 'agent_usage', 'agent_users', 'removed_runs', 'suggestion_usage'] as const;
type Table = (typeof TABLES)[number];

const START: Readonly<Record<Table, string>> = {
  trace_counts: 'hour',
  agent_usage: 'bucket_start',
  agent_users: 'day',
  removed_runs: 'started_at',
  suggestion_usage: 'started_at',
};

const MERGE_COUNTS = statement(
  {},
  () => `
  with several as (
    select agent_id, hour from trace_counts group by agent_id, hour having count(*) > 1
  ), before as (
    delete from trace_counts using several
    where trace_counts.agent_id = several.agent_id and trace_counts.hour = several.hour
    returning trace_counts.*
  )
  insert into trace_counts (organization_id, agent_id, hour, traces, replies)
  select organization_id, agent_id, hour, sum(traces), sum(replies) from before group by 1, 2, 3`,
);

/** What was counted of traces: kept as long as they are, and removed with the agent. Of all organizations. */
@Injectable()
export class KeptCountsRepository {
  constructor(private readonly database: Database) {}

  /** Agents that are gone and of which counts are left. Whatever is counted of an agent is in its usage as well. */
  agentsLeftBehind(): Promise<DeletedAgent[]> {
    return this.database.query<DeletedAgent>(
      `select distinct organization_id::text as "organizationId", agent_id::text as "agentId" from agent_usage
        where width = 'day' and not exists (select 1 from agents where agents.id = agent_usage.agent_id)`,
    );
  }

  /** Some of what is counted of an agent that is gone, of each table at most `limit` rows. @returns whether there is more */
  async removeSome({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const ofAgent = `organization_id = $1::uuid and agent_id = $2::uuid and not exists (select 1 from agents where agents.id = $2::uuid)`;
    return this.deleteFromEach(() => ofAgent, [organizationId, agentId], limit);
  }

  /** Some of what is about hours before. @returns whether there is more */
  async removeSomeBefore(cutoff: Date, limit: number): Promise<boolean> {
    return this.deleteFromEach((table) => `${START[table]} < $1::timestamptz`, [cutoff.toISOString()], limit);
  }

  /** Deletions leave rows that say how many went: one for each statement and hour. */
  async mergeCounts(): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await PUBLISH_ALONE.run(transaction, {});
      await MERGE_COUNTS.run(transaction, {});
    });
  }

  private async deleteFromEach(
    condition: (table: Table) => string,
    parameters: readonly unknown[],
    limit: number,
  ): Promise<boolean> {
    let more = false;
    for (const table of TABLES) more = (await this.delete(table, condition(table), parameters, limit)) || more;
    return more;
  }

  private async delete(
    table: Table,
    condition: string,
    parameters: readonly unknown[],
    limit: number,
  ): Promise<boolean> {
    const rows = await this.database.query(
      `delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit ${String(limit)})) returning 1`,
      parameters,
    );
    return rows.length === limit;
  }
}
