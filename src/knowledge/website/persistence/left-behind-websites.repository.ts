import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../../agents/index.js';
import { Database } from '../../../platform/database/index.js';
import * as sql from './websites.sql.js';

/** Websites and pages of deleted agents. No statement deletes anything of an agent that exists. */
@Injectable()
export class LeftBehindWebsites {
  constructor(private readonly database: Database) {}

  agents(limit: number): Promise<DeletedAgent[]> {
    return sql.LEFT_BEHIND.run(this.database, { limit });
  }

  async deleteWebsite({ organizationId, agentId }: DeletedAgent): Promise<void> {
    await sql.DELETE_LEFT_BEHIND_WEBSITE.run(this.database, { organizationId, agentId });
  }

  /** @returns how many were deleted */
  async deletePages({ organizationId, agentId }: DeletedAgent, limit: number): Promise<number> {
    return (await sql.DELETE_LEFT_BEHIND_PAGES.run(this.database, { organizationId, agentId, limit })).length;
  }
}
