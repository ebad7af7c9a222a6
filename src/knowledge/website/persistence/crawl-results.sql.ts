/** Written by hand: `distinct on` with a window function, which picks the first page of each outcome and counts the others. */
import { statement } from '../../../platform/database/index.js';

export const TALLY_PAGES = statement(
  { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid' },
  (p) => `
  select distinct on (root_id, outcome) root_id as "rootId", outcome, url, reason, depth, gone as "isMissing", moved_to is not null as "hasMoved",
         (count(*) over (partition by root_id, outcome))::int as count
    from knowledge_website_pages
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id = ${p.crawlId}
   order by root_id, outcome, depth, gone, url collate "C"`,
);
