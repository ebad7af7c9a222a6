import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { DELETE_COUNTS_BEFORE, DELETE_COUNTS_OF_AGENT, MERGE_COUNTS } from './trace-counts.sql.js';
import { LOCK_PUBLISHING } from './publish-traces.sql.js';

/** What is counted of the traces of all organizations: kept as long as they are, and removed with the agent. */
@Injectable()
export class TraceCountsRepository {
  constructor(private readonly database: Database) {}

  /** Deletes the counts of a deleted agent, at most `limit` rows of each table. @returns whether there may be more */
  async deleteSomeOfAgent(agent: DeletedAgent, limit: number): Promise<boolean> {
    let hasMore = false;
    for (const statement of DELETE_COUNTS_OF_AGENT)
      hasMore = (await statement.run(this.database, { ...agent, limit })).length === limit || hasMore;
    return hasMore;
  }

  /** Deletes the counts of hours and days before `cutoff`, at most `limit` rows of each table. @returns whether there may be more */
  async deleteSomeBefore(cutoff: Date, limit: number): Promise<boolean> {
    let hasMore = false;
    for (const statement of DELETE_COUNTS_BEFORE)
      hasMore = (await statement.run(this.database, { cutoff, limit })).length === limit || hasMore;
    return hasMore;
  }

  async merge(): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await LOCK_PUBLISHING.run(transaction, {});
      await MERGE_COUNTS.run(transaction, {});
    });
  }
}
