/** Written by hand: every step and slice of a crawl runs them, and the ORM has no relation by which to join or union these tables. */
import { statement } from '../../../platform/database/index.js';

/** Of all organizations: a host's worker reads the sitemaps for all crawls. */
export const WITH_UNREAD_SITEMAPS = statement(
  { origin: 'text', now: 'timestamptz' },
  (p) => `
  select crawl_origin.organization_id as "organizationId", crawl_origin.agent_id as "agentId", crawl_origin.crawl_id as "crawlId", crawl_origin.sitemaps
    from knowledge_website_origins crawl_origin
    join knowledge_websites site on site.agent_id = crawl_origin.agent_id and site.crawl_id = crawl_origin.crawl_id and site.work_left
   where crawl_origin.origin = ${p.origin} and not crawl_origin.opened and crawl_origin.available_at <= ${p.now}
   order by crawl_origin.available_at, site.active_at`,
);

export const UNFINISHED = statement(
  { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid' },
  (p) => `
  select origin from knowledge_website_pages
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id = ${p.crawlId} and state <> 'done'
  union
  select origin from knowledge_website_origins
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id = ${p.crawlId} and not opened`,
);
