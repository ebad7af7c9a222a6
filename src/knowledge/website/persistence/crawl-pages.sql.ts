/*
 * A crawl passes these for every page, so they are written by hand: what many pages need is one statement, and claims
 * and outcomes are compare-and-set, so that of two workers on one page only one is heard.
 */
import { statement } from '../../../platform/database/index.js';

const CRAWL = { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid' } as const;
type CrawlReferences = { readonly [Name in keyof typeof CRAWL]: string };

const ofCrawl = (p: CrawlReferences, table: string): string =>
  `${table}.organization_id = ${p.organizationId} and ${table}.agent_id = ${p.agentId} and ${table}.crawl_id = ${p.crawlId}`;

/** Keeps the crawl the current one until the transaction ends; no row where it is not, or its agent is gone. */
export const LOCK_CRAWL = statement(
  CRAWL,
  (p) => `
  select budget, found, disallowed, budget_reached from knowledge_websites site
   where ${ofCrawl(p, 'site')} and exists (
     select 1 from agents where agents.organization_id = site.organization_id and agents.id = site.agent_id) for update`,
);

export const OPEN_CRAWL = statement(
  { ...CRAWL, budget: 'integer' },
  (p) => `update knowledge_websites site set budget = ${p.budget} where ${ofCrawl(p, 'site')} and budget is null`,
);

export const FORGET_ORIGINS = statement(
  CRAWL,
  (p) => `
  delete from knowledge_website_origins where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id <> ${p.crawlId}`,
);

export const OPENED_ORIGINS = statement(
  CRAWL,
  (p) => `select origin, sitemaps from knowledge_website_origins site where ${ofCrawl(p, 'site')}`,
);

export const OPEN_ORIGIN = statement(
  { ...CRAWL, origin: 'text', sitemaps: 'jsonb' },
  (p) => `
  insert into knowledge_website_origins as site (organization_id, agent_id, crawl_id, origin, sitemaps)
  values (${p.organizationId}, ${p.agentId}, ${p.crawlId}, ${p.origin}, ${p.sitemaps})
  on conflict (agent_id, crawl_id, origin) do update set sitemaps = excluded.sitemaps where site.sitemaps is not null`,
);

/** Under the lock of the crawl. What the last crawl knew of a page stays with it. */
export const ADD_PAGES = statement(
  {
    ...CRAWL, pages: 'jsonb', room: 'integer', disallowedRoom: 'integer', now: 'timestamptz',
    claimId: 'uuid', claimJob: 'uuid', claimedUntil: 'timestamptz',
  },
  (p) => `
  with fresh as (
    select given.*, row_number() over (partition by given.disallowed order by given.position) as number
      from jsonb_to_recordset(${p.pages}) as given
        (id uuid, url text, digest text, origin text, root_id uuid, depth integer, claimed boolean, disallowed text, position integer)
     where not exists (
       select 1 from knowledge_website_pages known
        where ${ofCrawl(p, 'known')} and known.url_digest = decode(given.digest, 'hex'))
  ), added as (
    insert into knowledge_website_pages as page
      (id, organization_id, agent_id, crawl_id, root_id, origin, url, url_digest, depth, state, outcome, reason, attempts, available_at,
       claim_id, claim_job, claimed_until)
    select id, ${p.organizationId}, ${p.agentId}, ${p.crawlId}, root_id, origin, url, decode(digest, 'hex'), depth,
           case when disallowed is not null then 'done' when claimed then 'fetching' else 'pending' end,
           case when disallowed is not null then 'skipped' end, disallowed, case when claimed then 1 else 0 end, ${p.now},
           case when claimed then ${p.claimId} end, case when claimed then ${p.claimJob} end, case when claimed then ${p.claimedUntil} end
      from fresh where number <= case when disallowed is null then ${p.room} else ${p.disallowedRoom} end
    on conflict (agent_id, url_digest) do update set
      crawl_id = excluded.crawl_id, root_id = excluded.root_id, origin = excluded.origin, depth = excluded.depth, state = excluded.state,
      outcome = excluded.outcome, reason = excluded.reason, gone = false, copy_of = null, moved_to = null, attempts = excluded.attempts, available_at = excluded.available_at,
      claim_id = excluded.claim_id, claim_job = excluded.claim_job, claimed_until = excluded.claimed_until
    returning page.id, page.url, page.state
  )
  select (select count(*) from fresh where disallowed is null)::int as fresh,
         (select count(*) from added where state <> 'done')::int as added,
         (select count(*) from added where state = 'done')::int as disallowed,
         (select json_agg(json_build_object('id', id, 'url', url)) from added where state = 'fetching')::text as claimed`,
);

export const COUNT_FOUND = statement(
  { ...CRAWL, found: 'integer', disallowed: 'integer', budgetReached: 'boolean', now: 'timestamptz' },
  (p) => `
  update knowledge_websites site
     set found = found + ${p.found}, disallowed = disallowed + ${p.disallowed}, budget_reached = budget_reached or ${p.budgetReached}, active_at = ${p.now}
   where ${ofCrawl(p, 'site')}`,
);

/** Claims whose workers are gone: their leases have ended, or the job that made them runs once more. */
export const TAKE_BACK = statement(
  { ...CRAWL, claimId: 'uuid', claimJob: 'uuid', now: 'timestamptz' },
  (p) => `
  update knowledge_website_pages page set state = 'pending', claim_id = null, claim_job = null, claimed_until = null
   where ${ofCrawl(p, 'page')} and state = 'fetching'
     and (claimed_until <= ${p.now} or (claim_job = ${p.claimJob} and claim_id <> ${p.claimId}))`,
);

/** Of each host the pages that are nearest to where the crawl began. Looked up once, whatever the plan: a second look would pass over what is locked, and take more. */
export const CLAIM = statement(
  { ...CRAWL, origins: 'text[]', perHost: 'integer', claimId: 'uuid', claimJob: 'uuid', claimedUntil: 'timestamptz', now: 'timestamptz' },
  (p) => `
  with due as materialized (
      select picked.id from unnest(${p.origins}) as host (origin)
       cross join lateral (
         select waiting.id from knowledge_website_pages waiting
          where ${ofCrawl(p, 'waiting')} and waiting.state = 'pending' and waiting.origin = host.origin and waiting.available_at <= ${p.now}
          order by waiting.depth, waiting.id limit ${p.perHost} for update skip locked) picked)
  update knowledge_website_pages page
     set state = 'fetching', attempts = attempts + 1, claim_id = ${p.claimId}, claim_job = ${p.claimJob}, claimed_until = ${p.claimedUntil}
    from due
   where page.id = due.id
  returning page.id::text as id, page.url, page.root_id::text as "rootId", page.origin, page.depth, page.attempts, page.etag,
            page.last_modified as "lastModified", page.links, page.document_id::text as "documentId"`,
);

export const RENEW = statement(
  { ...CRAWL, claimId: 'uuid', claimedUntil: 'timestamptz', now: 'timestamptz' },
  (p) => `
  with alive as (update knowledge_websites site set active_at = ${p.now} where ${ofCrawl(p, 'site')} returning 1 as one)
  update knowledge_website_pages page set claimed_until = ${p.claimedUntil}
    from alive where ${ofCrawl(p, 'page')} and state = 'fetching' and claim_id = ${p.claimId}`,
);

/** Pages that were claimed and not tried. */
export const RELEASE = statement(
  { ...CRAWL, claimId: 'uuid', ids: 'uuid[]', availableAt: 'timestamptz[]' },
  (p) => `
  update knowledge_website_pages page
     set state = 'pending', attempts = greatest(attempts - 1, 0), available_at = given.at, claim_id = null, claim_job = null, claimed_until = null
    from unnest(${p.ids}, ${p.availableAt}) as given (id, at)
   where page.id = given.id and ${ofCrawl(p, 'page')} and state = 'fetching' and claim_id = ${p.claimId}`,
);

/** Whatever the claim still holds. */
export const RELEASE_ALL = statement(
  { ...CRAWL, claimId: 'uuid' },
  (p) => `
  update knowledge_website_pages page
     set state = 'pending', attempts = greatest(attempts - 1, 0), claim_id = null, claim_job = null, claimed_until = null
   where ${ofCrawl(p, 'page')} and state = 'fetching' and claim_id = ${p.claimId}`,
);

/** Under the lock of the crawl: what became of pages that nothing is stored for. */
export const NOTE_OUTCOMES = statement(
  { ...CRAWL, claimId: 'uuid', pages: 'jsonb' },
  (p) => `
  update knowledge_website_pages page
     set state = given.state, outcome = given.outcome, reason = given.reason, gone = given.gone,
         copy_of = decode(given.copy_of, 'hex'), moved_to = decode(given.moved_to, 'hex'),
         available_at = coalesce(given.available_at, page.available_at), claim_id = null, claim_job = null, claimed_until = null,
         etag = case when given.forget then null else etag end, last_modified = case when given.forget then null else last_modified end,
         links = case when given.forget then null else links end
    from jsonb_to_recordset(${p.pages}) as given
      (id uuid, state text, outcome text, reason text, gone boolean, forget boolean, copy_of text, moved_to text, available_at timestamptz)
   where page.id = given.id and ${ofCrawl(p, 'page')} and page.state = 'fetching' and page.claim_id = ${p.claimId}`,
);

/**
 * In the transaction that stores the page's document. The locks have a new crawl, and the agent's deletion, wait for it;
 * where one of them came first nothing is answered.
 */
export const NOTE_INDEXED = statement(
  { ...CRAWL, claimId: 'uuid', id: 'uuid', documentId: 'uuid', etag: 'text', lastModified: 'text', links: 'text' },
  (p) => `
  with site as (select 1 from knowledge_websites site where ${ofCrawl(p, 'site')} for share),
       owner as (select 1 from agents where organization_id = ${p.organizationId} and id = ${p.agentId} for key share)
  update knowledge_website_pages page
     set state = 'done', outcome = 'indexed', reason = null, gone = false, copy_of = null, moved_to = null, document_id = ${p.documentId}, etag = ${p.etag},
         last_modified = ${p.lastModified}, links = ${p.links}, claim_id = null, claim_job = null, claimed_until = null
   where page.id = ${p.id} and ${ofCrawl(p, 'page')} and page.state = 'fetching' and page.claim_id = ${p.claimId}
     and exists (select 1 from site) and exists (select 1 from owner)
  returning page.id`,
);

/** Of the addresses, those of pages that are in the crawl and may still be, or are, indexed. */
export const INDEXABLE = statement(
  { ...CRAWL, digests: 'text[]' },
  (p) => `
  select page.url from knowledge_website_pages page
   where ${ofCrawl(p, 'page')} and page.url_digest in (select decode(digest, 'hex') from unnest(${p.digests}) as given (digest))
     and (page.state <> 'done' or page.outcome = 'indexed')`,
);

/**
 * Under the lock of the crawl, all of whose pages have an outcome: copies of pages that turned out not to be had are
 * visited once more, to stand for themselves. Where the other page only leads on, what it leads to counts.
 */
export const RETURN_COPIES = statement(
  { ...CRAWL, now: 'timestamptz' },
  (p) => `
  update knowledge_website_pages page set state = 'pending', outcome = null, reason = null, copy_of = null, available_at = ${p.now}
    from knowledge_website_pages original
   where ${ofCrawl(p, 'page')} and page.state = 'done' and page.outcome = 'skipped' and page.copy_of is not null
     and ${ofCrawl(p, 'original')} and original.url_digest = page.copy_of and original.outcome <> 'indexed'
     and not exists (
       select 1 from knowledge_website_pages further
        where ${ofCrawl(p, 'further')} and further.url_digest = coalesce(original.copy_of, original.moved_to) and further.id <> page.id
          and (further.outcome = 'indexed' or coalesce(further.copy_of, further.moved_to) is not null))
  returning page.id`,
);

/** When the crawl has something to do next: pages of each host, and of null claims that end. */
export const NEXT_DUE = statement(
  CRAWL,
  (p) => `
  select origin, min(available_at) as due from knowledge_website_pages page where ${ofCrawl(p, 'page')} and state = 'pending' group by origin
  union all
  select null, min(claimed_until) from knowledge_website_pages page where ${ofCrawl(p, 'page')} and state = 'fetching' having count(*) > 0`,
);

/** Under the lock of the crawl. Documents of pages that are no longer to be found; the next crawl asks for them as for new ones. */
export const LEAVING = statement(
  { ...CRAWL, keptRoots: 'uuid[]', limit: 'integer' },
  (p) => `
  update knowledge_website_pages page set etag = null, last_modified = null, links = null
   where page.id in (
     select id from knowledge_website_pages
      where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and document_id is not null
        and case when crawl_id = ${p.crawlId} then outcome = 'skipped' or gone else root_id <> all(${p.keptRoots}) end
      limit ${p.limit})
  returning page.document_id::text as "documentId"`,
);

/** Pages that earlier crawls indexed and this one did not come across. */
export const UNFOUND = statement(
  { ...CRAWL, exceptRoots: 'uuid[]', limit: 'integer' },
  (p) => `
  select url, depth from knowledge_website_pages
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id <> ${p.crawlId} and document_id is not null
     and root_id <> all(${p.exceptRoots})
   order by depth, id limit ${p.limit}`,
);

/** Before a crawl begins: documents of sites that were removed. */
export const LEAVING_OF_REMOVED_SITES = statement(
  { ...CRAWL, limit: 'integer' },
  (p) => `
  update knowledge_website_pages page set etag = null, last_modified = null, links = null
   where page.id in (
     select id from knowledge_website_pages known
      where known.organization_id = ${p.organizationId} and known.agent_id = ${p.agentId} and known.crawl_id <> ${p.crawlId}
        and known.document_id is not null
        and not exists (select 1 from knowledge_website_roots site 
           where site.organization_id = known.organization_id and site.agent_id = known.agent_id and site.id = known.root_id)
      limit ${p.limit})
  returning page.document_id::text as "documentId"`,
);

/**
 * The documents are out of the index. A crawl that began meanwhile may have put one anew before that: its page is
 * visited once more.
 */
export const NOTE_REMOVED = statement(
  { ...CRAWL, documentIds: 'uuid[]' },
  (p) => `
  update knowledge_website_pages page
     set document_id = null, etag = null, last_modified = null, links = null,
         state = case when crawl_id <> ${p.crawlId} and outcome = 'indexed' then 'pending' else state end,
         outcome = case when crawl_id <> ${p.crawlId} and outcome = 'indexed' then null else outcome end
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and document_id = any(${p.documentIds})`,
);

/** Under the lock of the crawl: pages that it did not find, of which nothing is in the index. */
export const REMOVE_UNFOUND = statement(
  { ...CRAWL, keptRoots: 'uuid[]', limit: 'integer' },
  (p) => `
  delete from knowledge_website_pages
   where id in (
     select id from knowledge_website_pages
      where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id <> ${p.crawlId}
        and document_id is null and root_id <> all(${p.keptRoots})
      limit ${p.limit})
  returning 1 as one`,
);

/** What became of the pages of each site. */
export const TALLIES = statement(
  CRAWL,
  (p) => `
  select site.id::text as id, site.root_url as "rootUrl", coalesce(sum(tally.indexed), 0)::int as indexed, coalesce(sum(tally.failed), 0)::int as failed,
         coalesce(sum(tally.skipped), 0)::int as skipped, first.reason as "firstReason", coalesce(first.away, false) as away,
         example.url as "exampleUrl", example.reason as "exampleReason"
    from knowledge_website_roots site
    left join lateral (
      select count(*) filter (where outcome = 'indexed') as indexed, count(*) filter (where outcome = 'failed') as failed,
             count(*) filter (where outcome = 'skipped') as skipped
        from knowledge_website_pages page where ${ofCrawl(p, 'page')} and page.root_id = site.id) tally on true
    left join lateral (
      select page.reason, page.outcome = 'failed' and not page.gone as away
        from knowledge_website_pages page where ${ofCrawl(p, 'page')} and page.root_id = site.id and page.depth = 0 and page.outcome <> 'indexed'
       order by page.id limit 1) first on true
    left join lateral (
      select page.url, page.reason
        from knowledge_website_pages page where ${ofCrawl(p, 'page')} and page.root_id = site.id and page.outcome = 'failed'
       order by page.depth, page.id limit 1) example on true
   where site.organization_id = ${p.organizationId} and site.agent_id = ${p.agentId}
   group by site.id, site.root_url, site.position, first.reason, first.away, example.url, example.reason
   order by site.position`,
);

/** Under the lock of the crawl. `state` null leaves it as it is: nothing was to be crawled. */
export const END_CRAWL = statement(
  { ...CRAWL, state: 'text', lastError: 'text', succeededAt: 'timestamptz', nextCrawlAt: 'timestamptz', now: 'timestamptz' },
  (p) => `
  update knowledge_websites site
     set work_left = false, state = coalesce(${p.state}, state), last_error = ${p.lastError}, active_at = ${p.now},
         last_successful_at = coalesce(${p.succeededAt}, last_successful_at), next_crawl_at = ${p.nextCrawlAt}
   where ${ofCrawl(p, 'site')}`,
);
