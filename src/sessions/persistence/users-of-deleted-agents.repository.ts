import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { DELETED_AGENTS, REMOVE_USERS_OF_DELETED_AGENT } from './sessions.sql.js';

/** The users in sessions of deleted agents, of all organizations: for the service's own maintenance. */
@Injectable()
export class UsersOfDeletedAgents {
  constructor(private readonly database: Database) {}

  deletedAgents(): Promise<DeletedAgent[]> {
    return DELETED_AGENTS.run<DeletedAgent>(this.database, {});
  }

  /** @returns whether there may be more */
  async removeSome({ organizationId, agentId }: DeletedAgent, limit: number): Promise<boolean> {
    const changed = await REMOVE_USERS_OF_DELETED_AGENT.run(this.database, { organizationId, agentId, limit });
    return changed.length === limit;
  }
}
