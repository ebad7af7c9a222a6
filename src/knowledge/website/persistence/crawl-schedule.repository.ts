import { Injectable } from '@nestjs/common';
import { Database, statement, type Transaction } from '../../../platform/database/index.js';
import type { CrawlKey } from './website.repository.js';

const DUE = statement(
  { now: 'timestamptz', limit: 'integer' },
  (p) => `
  select organization_id::text as "organizationId", agent_id::text as "agentId" from knowledge_websites site
   where next_crawl_at <= ${p.now}
     and exists (select 1 from agents where agents.organization_id = site.organization_id and agents.id = site.agent_id and agents.type <> 'classic')
   order by next_crawl_at limit ${p.limit}`,
);

const STILL_DUE = statement(
  { organizationId: 'uuid', agentId: 'uuid', now: 'timestamptz' },
  (p) => `
  select 1 as one from knowledge_websites
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and next_crawl_at <= ${p.now} for update`,
);

const STANDING = statement(
  { before: 'timestamptz', limit: 'integer' },
  (p) => `
  select organization_id::text as "organizationId", agent_id::text as "agentId", crawl_id::text as "crawlId" from knowledge_websites site
   where work_left and active_at < ${p.before} and exists (select 1 from agents where agents.organization_id = site.organization_id and agents.id = site.agent_id)
   order by active_at limit ${p.limit}`,
);

const TAKE_UP = statement(
  { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid', before: 'timestamptz', now: 'timestamptz' },
  (p) => `
  update knowledge_websites set active_at = ${p.now}
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id = ${p.crawlId} and work_left and active_at < ${p.before}
  returning 1 as one`,
);

const DELETED_AGENTS = statement(
  { limit: 'integer' },
  (p) => `
  select distinct left_behind.organization_id::text as "organizationId", left_behind.agent_id::text as "agentId"
    from (select organization_id, agent_id from knowledge_websites union select organization_id, agent_id from knowledge_website_pages) left_behind
   where not exists (select 1 from agents where agents.organization_id = left_behind.organization_id and agents.id = left_behind.agent_id) limit ${p.limit}`,
);

const REMOVE_PAGES = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `
  delete from knowledge_website_pages where id in (
    select page.id from knowledge_website_pages page
     where page.organization_id = ${p.organizationId} and page.agent_id = ${p.agentId}
       and not exists (select 1 from agents where agents.organization_id = page.organization_id and agents.id = page.agent_id) limit ${p.limit})
  returning 1 as one`,
);

const REMOVE_WEBSITE = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  delete from knowledge_websites site
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
     and not exists (select 1 from agents where agents.organization_id = site.organization_id and agents.id = site.agent_id)`,
);

type Agent = Omit<CrawlKey, 'crawlId'>;

/** Of all organizations: which crawls are to begin, or to be taken up, and what agents that are gone have left. */
@Injectable()
export class CrawlSchedule {
  constructor(private readonly database: Database) {}

  due(now: Date, limit: number): Promise<Agent[]> {
    return DUE.run<Agent>(this.database, { now, limit });
  }

  /** Locks the website where its crawl is due still. */
  async lockDue(transaction: Transaction, { organizationId, agentId }: Agent, now: Date): Promise<boolean> {
    return (await STILL_DUE.run(transaction, { organizationId, agentId, now })).length > 0;
  }

  /** Crawls of which nothing was heard since. */
  standing(before: Date, limit: number): Promise<CrawlKey[]> {
    return STANDING.run<CrawlKey>(this.database, { before, limit });
  }

  /** @returns false where it moves again */
  async takeUp(transaction: Transaction, { organizationId, agentId, crawlId }: CrawlKey, before: Date, now: Date): Promise<boolean> {
    return (await TAKE_UP.run(transaction, { organizationId, agentId, crawlId, before, now })).length > 0;
  }

  deletedAgents(limit: number): Promise<Agent[]> {
    return DELETED_AGENTS.run<Agent>(this.database, { limit });
  }

  /** Of an agent that is gone; nothing of one that is there. @returns how many were removed */
  async removePages({ organizationId, agentId }: Agent, limit: number): Promise<number> {
    return (await REMOVE_PAGES.run(this.database, { organizationId, agentId, limit })).length;
  }

  async removeWebsite({ organizationId, agentId }: Agent): Promise<void> {
    await REMOVE_WEBSITE.run(this.database, { organizationId, agentId });
  }
}
