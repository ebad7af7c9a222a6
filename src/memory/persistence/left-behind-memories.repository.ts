import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { DELETED_AGENTS, REMOVE_SOME_OF_DELETED_AGENT } from './memories.sql.js';

/** The memories of deleted agents, of all organizations: for the service's own maintenance. */
@Injectable()
export class LeftBehindMemoriesRepository {
  constructor(private readonly database: Database) {}

  deletedAgents(): Promise<DeletedAgent[]> {
    return DELETED_AGENTS.run<DeletedAgent>(this.database, {});
  }

  /** @returns whether there may be more */
  async removeSome({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const removed = await REMOVE_SOME_OF_DELETED_AGENT.run(this.database, { organizationId, agentId, limit });
    return removed.length === limit;
  }
}
