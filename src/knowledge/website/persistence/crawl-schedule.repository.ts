import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, rowsOf, type Transaction } from '../../../platform/database/index.js';
import { StoredWebsite, tables } from './website.entities.js';
import type { CrawlKey } from './website.repository.js';

type Agent = Omit<CrawlKey, 'crawlId'>;

const websites = tables
  .selectFrom('knowledge_websites as site')
  .innerJoin('agents', (join) =>
    join.onRef('agents.id', '=', 'site.agent_id').onRef('agents.organization_id', '=', 'site.organization_id'),
  )
  .select(['site.organization_id as organizationId', 'site.agent_id as agentId']);

const isGone = (table: string) =>
  sql<boolean>`not exists (select 1 from agents where agents.organization_id = ${sql.ref(`${table}.organization_id`)} and agents.id = ${sql.ref(`${table}.agent_id`)})`;

/** Of all organizations: which crawls are to begin, or to be taken up, and what agents that are gone have left. */
@Injectable()
export class CrawlSchedule {
  constructor(private readonly database: Database) {}

  due(now: Date, limit: number): Promise<Agent[]> {
    const due = websites
      .where('site.next_crawl_at', '<=', now.toISOString())
      .where('agents.type', '<>', 'classic')
      .orderBy('site.next_crawl_at')
      .limit(limit);
    return rowsOf(this.database, due);
  }

  /** Locks the website where its crawl is due still. */
  async lockDue({ em }: Transaction, { organizationId, agentId }: Agent, now: Date): Promise<boolean> {
    const due = { organizationId, agentId, nextCrawlAt: { $lte: now } };
    return (
      (await em.findOne(StoredWebsite, due, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })) !==
      null
    );
  }

  /** Crawls of which nothing was heard since, which have moved now: no other process takes them up as well. */
  takeUpStanding(transaction: Transaction, before: Date, now: Date, limit: number): Promise<CrawlKey[]> {
    const standing = websites
      .clearSelect()
      .select('site.agent_id')
      .where('site.work_left', '=', true)
      .where('site.active_at', '<', before.toISOString());
    const takenUp = tables
      .updateTable('knowledge_websites')
      .set({ active_at: now.toISOString() })
      .where('agent_id', 'in', standing.orderBy('site.active_at').limit(limit))
      .where('work_left', '=', true)
      .where('active_at', '<', before.toISOString())
      .returning(['organization_id as organizationId', 'agent_id as agentId', 'crawl_id as crawlId']);
    return rowsOf(transaction, takenUp);
  }

  deletedAgents(limit: number): Promise<Agent[]> {
    const left = tables
      .selectFrom('knowledge_websites as site')
      .select(['site.organization_id as organizationId', 'site.agent_id as agentId'])
      .where(isGone('site'))
      .union(
        tables
          .selectFrom('knowledge_website_pages as page')
          .select(['page.organization_id as organizationId', 'page.agent_id as agentId'])
          .where(isGone('page')),
      )
      .limit(limit);
    return rowsOf(this.database, left);
  }

  /** Of an agent that is gone; nothing of one that is there. @returns how many were removed */
  async removePages({ organizationId, agentId }: Agent, limit: number): Promise<number> {
    const some = tables
      .selectFrom('knowledge_website_pages as page')
      .select('page.id')
      .where('page.organization_id', '=', organizationId)
      .where('page.agent_id', '=', agentId)
      .where(isGone('page'))
      .limit(limit);
    return (
      await rowsOf(this.database, tables.deleteFrom('knowledge_website_pages').where('id', 'in', some).returning('id'))
    ).length;
  }

  async removeWebsite({ organizationId, agentId }: Agent): Promise<void> {
    const website = tables
      .deleteFrom('knowledge_websites as site')
      .where('site.organization_id', '=', organizationId)
      .where('site.agent_id', '=', agentId);
    await rowsOf(this.database, website.where(isGone('site')).returning('agent_id'));
  }
}
