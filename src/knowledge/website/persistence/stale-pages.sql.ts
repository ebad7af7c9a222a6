/*
 * Written by hand because each one changes a limited number of rows and returns them in one statement, or orders
 * addresses by their bytes, as `crawl-pages.sql.ts` does.
 */
import { statement } from '../../../platform/database/index.js';

const CRAWL = { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid' } as const;
const KEPT = { ...CRAWL, keptRoots: 'uuid[]', limit: 'integer' } as const;

const ofAgent = (p: { readonly organizationId: string; readonly agentId: string }): string =>
  `page.organization_id = ${p.organizationId} and page.agent_id = ${p.agentId}`;

/** The next crawl fetches the page as a new one. */
const FORGET_VALIDATORS = 'etag = null, last_modified = null, links = null';

const takeDocuments = (limit: string, where: string): string => `
  update knowledge_website_pages set ${FORGET_VALIDATORS}
   where id in (select page.id from knowledge_website_pages page where page.document_id is not null and ${where} limit ${limit})
  returning document_id as "documentId"`;

export const TAKE_DOCUMENTS = statement(KEPT, (p) =>
  takeDocuments(
    p.limit,
    `${ofAgent(p)} and case when page.crawl_id = ${p.crawlId} then page.outcome = 'skipped' or page.gone else page.root_id <> all(${p.keptRoots}) end`,
  ),
);

export const TAKE_DOCUMENTS_OF_REMOVED_SITES = statement({ ...CRAWL, limit: 'integer' }, (p) =>
  takeDocuments(
    p.limit,
    `${ofAgent(p)} and page.crawl_id <> ${p.crawlId} and not exists (select 1 from knowledge_website_roots site
      where site.organization_id = page.organization_id and site.agent_id = page.agent_id and site.id = page.root_id)`,
  ),
);

/**
 * A crawl that began after the documents were taken may have indexed a page again before its document was removed: that
 * page is pending again.
 */
export const CLEAR_DOCUMENTS = statement({ ...CRAWL, documentIds: 'uuid[]' }, (p) => {
  const indexedAgain = `page.crawl_id <> ${p.crawlId} and page.outcome = 'indexed'`;
  return `
  update knowledge_website_pages page
     set ${FORGET_VALIDATORS}, document_id = null,
         state = case when ${indexedAgain} then 'pending' else page.state end,
         outcome = case when ${indexedAgain} then null else page.outcome end
   where ${ofAgent(p)} and page.document_id = any(${p.documentIds})`;
});

export const UNVISITED = statement(
  KEPT,
  (p) => `
  select page.url, page.depth from knowledge_website_pages page
   where ${ofAgent(p)} and page.crawl_id <> ${p.crawlId} and page.document_id is not null and page.root_id <> all(${p.keptRoots})
   order by page.depth, page.url collate "C" limit ${p.limit}`,
);

export const DELETE_UNVISITED = statement(
  KEPT,
  (p) => `
  delete from knowledge_website_pages where id in (
    select page.id from knowledge_website_pages page
     where ${ofAgent(p)} and page.crawl_id <> ${p.crawlId} and page.document_id is null and page.root_id <> all(${p.keptRoots})
     limit ${p.limit})
  returning id`,
);
