import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import type { DeletedAgent } from '../../agents/index.js';
import { Database, rowsOf } from '../../platform/database/index.js';
import { tables } from './integrations.schema.js';

/** What agents that are gone used, and which integrations are gone. */
@Injectable()
export class LeftBehindIntegrations {
  constructor(private readonly database: Database) {}

  /** Agents that are gone and of which it is still said that they use something. */
  async agents(): Promise<DeletedAgent[]> {
    const query = ofDeletedAgents().select(['used.agent_id', 'used.organization_id']).distinct();
    const rows = await rowsOf(this.database, query);
    return rows.map((row) => ({ agentId: row.agent_id, organizationId: row.organization_id }));
  }

  /** The integrations of one of them; none while the agent is there. */
  async integrationsOf({ organizationId, agentId }: DeletedAgent): Promise<string[]> {
    const query = ofDeletedAgents()
      .select('used.integration_id')
      .where('used.organization_id', '=', organizationId)
      .where('used.agent_id', '=', agentId);
    return (await rowsOf(this.database, query)).map((row) => row.integration_id);
  }

  /** Those of the ids, of any organization, under which there is no integration any more. */
  async absentOf(ids: readonly string[]): Promise<string[]> {
    const query = tables
      .selectFrom('tool_integrations')
      .select('id')
      .where(sql<boolean>`id = any(${ids}::uuid[])`);
    const present = new Set((await rowsOf(this.database, query)).map(({ id }) => id));
    return ids.filter((id) => !present.has(id));
  }
}

function ofDeletedAgents() {
  return tables
    .selectFrom('tool_integration_agents as used')
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('agents').select('agents.id').whereRef('agents.id', '=', 'used.agent_id'))),
    );
}
