import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { StoredIntegration } from './integrations.schema.js';
import { DELETED_AGENTS, INTEGRATIONS_OF_DELETED_AGENT } from './integrations.sql.js';

/** The integrations of deleted agents, and which integrations have been removed. */
@Injectable()
export class LeftBehindIntegrations {
  constructor(private readonly database: Database) {}

  /** Deleted agents that still have attachments. */
  deletedAgents(): Promise<DeletedAgent[]> {
    return DELETED_AGENTS.run<DeletedAgent>(this.database, {});
  }

  /** The ids of a deleted agent's integrations; empty while the agent exists. */
  async integrationsOf({ organizationId, agentId }: DeletedAgent): Promise<string[]> {
    const rows = await INTEGRATIONS_OF_DELETED_AGENT.run<{ integration_id: string }>(this.database, {
      ...{ organizationId, agentId },
    });
    return rows.map((row) => row.integration_id);
  }

  /** Those of the ids, of any organization, for which no integration exists. */
  async findRemoved(ids: readonly string[]): Promise<string[]> {
    const existing = await this.database.read((em) =>
      em.find(StoredIntegration, { id: { $in: [...ids] } }, { fields: ['id'], disableIdentityMap: true }),
    );
    const existingIds = new Set(existing.map(({ id }) => id));
    return ids.filter((id) => !existingIds.has(id));
  }
}
