/*
 * Written by hand because they read `agents`, a table of another context that has no entity here, change a
 * limited number of rows in one statement, or use `distinct on` with a window function.
 */
import { statement } from '../../../platform/database/index.js';

const agentExists = (table: string): string =>
  `exists (select 1 from agents where agents.organization_id = ${table}.organization_id and agents.id = ${table}.agent_id)`;

export const DUE = statement(
  { now: 'timestamptz', limit: 'integer' },
  (p) => `
  select site.organization_id as "organizationId", site.agent_id as "agentId"
    from knowledge_websites site join agents on agents.id = site.agent_id and agents.organization_id = site.organization_id
   where site.next_crawl_at <= ${p.now} and agents.type <> 'classic'
   order by site.next_crawl_at limit ${p.limit}`,
);

/** Of two processes that run this at once, the second finds the first one's rows changed and returns none of them. */
export const TAKE_STALLED = statement(
  { before: 'timestamptz', now: 'timestamptz', limit: 'integer' },
  (p) => `
  update knowledge_websites set active_at = ${p.now}
   where agent_id in (
     select site.agent_id from knowledge_websites site
      where site.work_left and site.active_at < ${p.before} and ${agentExists('site')}
      order by site.active_at limit ${p.limit})
     and work_left and active_at < ${p.before}
  returning organization_id as "organizationId", agent_id as "agentId", crawl_id as "crawlId"`,
);

export const DELETE_WEBSITE_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  delete from knowledge_websites site
   where site.organization_id = ${p.organizationId} and site.agent_id = ${p.agentId} and not ${agentExists('site')}`,
);

export const DELETE_PAGES_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `
  delete from knowledge_website_pages where id in (
    select page.id from knowledge_website_pages page
     where page.organization_id = ${p.organizationId} and page.agent_id = ${p.agentId} and not ${agentExists('page')}
     limit ${p.limit})
  returning id`,
);

/** The first page of each outcome of each site, and how many pages have the outcome. */
export const TALLY_PAGES = statement(
  { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid' },
  (p) => `
  select distinct on (root_id, outcome) root_id as "rootId", outcome, url, reason, depth, gone as "isMissing", moved_to is not null as "hasMoved",
         (count(*) over (partition by root_id, outcome))::int as count
    from knowledge_website_pages
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id = ${p.crawlId}
   order by root_id, outcome, depth, gone, url collate "C"`,
);
