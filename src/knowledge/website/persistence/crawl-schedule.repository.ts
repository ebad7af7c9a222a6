import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { StoredWebsite } from './website.entities.js';
import type { CrawlKey } from './website.repository.js';
import * as sql from './websites.sql.js';

type AgentKey = Omit<CrawlKey, 'crawlId'>;

/** Which crawls of all organizations begin now, and which have lost their jobs. */
@Injectable()
export class CrawlSchedule {
  constructor(private readonly database: Database) {}

  due(now: Date, limit: number): Promise<AgentKey[]> {
    return sql.DUE.run(this.database, { now, limit });
  }

  /** @returns whether the crawl is still due; if so, the website is locked until the transaction ends */
  async lockDue({ em }: Transaction, { organizationId, agentId }: AgentKey, now: Date): Promise<boolean> {
    const where = { organizationId, agentId, nextCrawlAt: { $lte: now } };
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
    return (await em.findOne(StoredWebsite, where, options)) !== null;
  }

  /** Crawls without progress since `before`. They now count as active, so that no other process takes them too. */
  takeStalled(transaction: Transaction, before: Date, now: Date, limit: number): Promise<CrawlKey[]> {
    return sql.TAKE_STALLED.run(transaction, { before, now, limit });
  }
}
