/*
 * Written by hand because a crawl runs them for every page: one statement serves many pages. Outcomes are compare-and-set
 * by the claim, so that a worker that has lost the host's lease cannot overwrite the outcome of the next one.
 */
import { statement } from '../../../platform/database/index.js';

const CRAWL = { organizationId: 'uuid', agentId: 'uuid', crawlId: 'uuid' } as const;
type CrawlReferences = { readonly [Name in keyof typeof CRAWL]: string };

const ofCrawl = (p: CrawlReferences, table: string): string =>
  `${table}.organization_id = ${p.organizationId} and ${table}.agent_id = ${p.agentId} and ${table}.crawl_id = ${p.crawlId}`;

/** Of pages with the same text the first is kept: first those that name no other page as canonical, then those with fewer links from the crawl's beginning. */
const rank = (page: string, copyOf = `${page}.copy_of`): string =>
  `(${copyOf} is not null, ${page}.depth, length(${page}.url), ${page}.url collate "C")`;

const lockCrawl = (p: CrawlReferences): string => `
  select budget, found, disallowed, budget_reached as "budgetReached" from knowledge_websites site
   where ${ofCrawl(p, 'site')} and exists (
     select 1 from agents where agents.organization_id = site.organization_id and agents.id = site.agent_id) for update`;

/** No row where another crawl has replaced this one, or its agent was deleted. */
export const LOCK_CRAWL = statement(CRAWL, lockCrawl);

type RecordReferences = CrawlReferences & { readonly holder: string; readonly visits: string };

const noteVisits = (p: RecordReferences): string => `
  judged as (
    select given.*, twin.url as twin
      from locked cross join jsonb_to_recordset(${p.visits}) as given
        (id uuid, state text, outcome text, reason text, "isMissing" boolean, forget boolean, "copyOf" text, "movedTo" text, "textDigest" text, held jsonb, "availableAt" timestamptz)
      join knowledge_website_pages page on page.id = given.id and ${ofCrawl(p, 'page')}
      left join lateral (
        select other.url from knowledge_website_pages other
         where ${ofCrawl(p, 'other')} and other.text_digest = decode(given."textDigest", 'hex') and other.id <> page.id
           and (other.state <> 'done' or other.outcome = 'indexed') and ${rank('other')} < ${rank('page', 'given."copyOf"')}
         order by ${rank('other')} limit 1) twin on true
  ), noted as (
    update knowledge_website_pages page
       set state = case when twin is null then judged.state else 'done' end,
           outcome = case when twin is null then judged.outcome else 'skipped' end,
           reason = case when twin is not null then 'It has the same text as ' || twin || '.' when judged.outcome = 'indexed' then page.reason else judged.reason end,
           copy_of = case when twin is not null then sha256(convert_to(twin, 'UTF8'))
                          when judged."textDigest" is null then page.copy_of else decode(judged."copyOf", 'hex') end,
           gone = coalesce(judged."isMissing", false), moved_to = decode(judged."movedTo", 'hex'),
           text_digest = coalesce(decode(judged."textDigest", 'hex'), page.text_digest), held = judged.held,
           available_at = coalesce(judged."availableAt", page.available_at),
           claim_id = case when twin is null and judged.state = 'fetching' then page.claim_id end,
           claimed_until = case when twin is null and judged.state = 'fetching' then page.claimed_until end,
           etag = case when forget or twin is not null then null else etag end,
           last_modified = case when forget or twin is not null then null else last_modified end,
           links = case when forget or twin is not null then null else links end
      from judged
     where page.id = judged.id and page.state = 'fetching' and page.claim_id = ${p.holder}
    returning page.id, page.state
  )`;

/**
 * Adds the pages that visits found, and stores the outcomes of the visited pages; no row where another crawl has replaced
 * this one. A found page keeps what the last crawl knew of it. A page with the same text as another page of the crawl is
 * skipped at once. Two concurrent runs do not see each other's rows: a page that both add is added once, and pages with the
 * same text are compared again at the crawl's end.
 */
export const RECORD = statement(
  {
    ...CRAWL,
    holder: 'uuid',
    found: 'jsonb',
    visits: 'jsonb',
    now: 'timestamptz',
    claimedUntil: 'timestamptz',
  },
  (p) => `
  with locked as (${lockCrawl(p)}
  ), fresh as (
    select given.*, case when given.disallowed is null then locked.budget - locked.found else locked.budget - locked.disallowed end as room,
           row_number() over (partition by given.disallowed is null order by given.position) as number
      from locked cross join jsonb_to_recordset(${p.found}) as given
        (id uuid, url text, digest text, origin text, "rootId" uuid, depth integer, claimed boolean, disallowed text, position integer)
     where not exists (
       select 1 from knowledge_website_pages known
        where ${ofCrawl(p, 'known')} and known.url_digest = decode(given.digest, 'hex'))
  ), added as (
    insert into knowledge_website_pages as page
      (id, organization_id, agent_id, crawl_id, root_id, origin, url, url_digest, depth, state, outcome, reason, attempts, available_at, claim_id, claimed_until)
    select id, ${p.organizationId}, ${p.agentId}, ${p.crawlId}, "rootId", origin, url, decode(digest, 'hex'), depth,
           case when disallowed is not null then 'done' when claimed then 'fetching' else 'pending' end,
           case when disallowed is not null then 'skipped' end, disallowed, case when claimed then 1 else 0 end, ${p.now},
           case when claimed then ${p.holder} end, case when claimed then ${p.claimedUntil} end
      from fresh where number <= room
    on conflict (agent_id, url_digest) do update set
      crawl_id = excluded.crawl_id, root_id = excluded.root_id, origin = excluded.origin, depth = excluded.depth, state = excluded.state, outcome = excluded.outcome,
      reason = case when page.outcome = 'indexed' then coalesce(excluded.reason, page.reason) else excluded.reason end, gone = false, moved_to = null, held = null,
      attempts = excluded.attempts, available_at = excluded.available_at, claim_id = excluded.claim_id, claim_job = null, claimed_until = excluded.claimed_until
      where page.crawl_id <> excluded.crawl_id
    returning page.id, page.url, page.state
  ), counts as (
    select exists (select 1 from fresh where disallowed is null and number > room) or locked."budgetReached" as full,
           (select count(*) from added where state <> 'done')::integer as added, (select count(*) from added where state = 'done')::integer as disallowed
      from locked
  ), counted as (
    update knowledge_websites site
       set found = found + counts.added, disallowed = site.disallowed + counts.disallowed, budget_reached = counts.full, active_at = ${p.now}
      from counts where ${ofCrawl(p, 'site')}
  ), ${noteVisits(p)}
  select counts.full,
         (select json_agg(json_build_object('id', id, 'url', url)) from added where state = 'fetching')::text as claimed,
         (select json_agg(id) from noted where state = 'fetching')::text as kept
    from counts`,
);

const PAGE_COLUMNS = `page.organization_id::text as "organizationId", page.agent_id::text as "agentId", page.crawl_id::text as "crawlId", page.id::text as id, page.url,
  page.root_id::text as "rootId", page.origin, page.depth, page.attempts, page.etag, page.last_modified as "lastModified", page.links, page.document_id::text as "documentId"`;

const ACTIVE_ORIGINS = `
  from knowledge_website_origins crawl_origin
  join knowledge_websites site on site.agent_id = crawl_origin.agent_id and site.crawl_id = crawl_origin.crawl_id and site.work_left`;

/**
 * Claims pages of all crawls of the host. Organizations take turns, then their crawls; within a crawl, pages with fewer
 * links from its beginning come first. Until the first pages of an origin can be compared, its next pages are claimed only
 * when those claimed before have an outcome, so that each crawl compares the same ones.
 */
export const CLAIM = statement(
  {
    origin: 'text',
    holder: 'uuid',
    limit: 'integer',
    sample: 'integer',
    now: 'timestamptz',
    claimedUntil: 'timestamptz',
  },
  (p) => `
  with due as materialized (
    select next_page.id, row_number() over (partition by crawl_origin.organization_id order by next_page.number, random()) as round ${ACTIVE_ORIGINS}
     cross join lateral (
       select pending_page.id, row_number() over (order by pending_page.depth, pending_page.url collate "C") as number from knowledge_website_pages pending_page
        where pending_page.crawl_id = crawl_origin.crawl_id and pending_page.origin = crawl_origin.origin and pending_page.state = 'pending' and pending_page.available_at <= ${p.now}
        order by number
        limit case when crawl_origin.repeated is not null then ${p.limit} else (
          select case when count(*) > count(held) then 0 else greatest(${p.sample} - count(held), 0) end from knowledge_website_pages sampled
           where sampled.crawl_id = crawl_origin.crawl_id and sampled.origin = crawl_origin.origin and sampled.state = 'fetching') end) next_page
     where crawl_origin.origin = ${p.origin} and crawl_origin.opened
     order by round, random() limit ${p.limit}
  )
  update knowledge_website_pages page
     set state = 'fetching', attempts = attempts + 1, claim_id = ${p.holder}, claim_job = null, claimed_until = ${p.claimedUntil}
    from due where page.id = due.id and page.state = 'pending'
  returning ${PAGE_COLUMNS}`,
);

/** Pages of an earlier worker: only the one that has the host's lease works on them. */
export const RECLAIM = statement(
  { origin: 'text', holder: 'uuid' },
  (p) => `
  update knowledge_website_pages set state = 'pending', claim_id = null, claim_job = null, claimed_until = null
   where origin = ${p.origin} and state = 'fetching' and held is null and claim_id is distinct from ${p.holder}`,
);

/** A visit that was not made does not count as an attempt. */
export const RELEASE = statement(
  { holder: 'uuid' },
  (p) => `
  update knowledge_website_pages set state = 'pending', attempts = greatest(attempts - 1, 0), claim_id = null, claimed_until = null
   where state = 'fetching' and held is null and claim_id = ${p.holder}`,
);

export const NEXT_DUE = statement(
  { origin: 'text' },
  (p) => `
  select least(
    (select min(page.available_at) ${ACTIVE_ORIGINS}
       join knowledge_website_pages page on page.crawl_id = crawl_origin.crawl_id and page.origin = crawl_origin.origin and page.state = 'pending'
      where crawl_origin.origin = ${p.origin} and crawl_origin.opened),
    (select min(crawl_origin.available_at) ${ACTIVE_ORIGINS} where crawl_origin.origin = ${p.origin} and not crawl_origin.opened)) as due`,
);

const unfinished = (of: string): string => `
  (select 1 from knowledge_website_pages page where ${of} and page.state = 'pending'
    union all select 1 from knowledge_website_pages page where ${of} and page.state = 'fetching' and page.held is null)`;

export const FINISHED = statement(
  { crawlIds: 'uuid[]' },
  (p) => `
  select organization_id::text as "organizationId", agent_id::text as "agentId", crawl_id::text as "crawlId" from knowledge_websites site
   where crawl_id = any(${p.crawlIds}) and work_left and not exists ${unfinished('page.crawl_id = site.crawl_id')}
     and not exists (select 1 from knowledge_website_origins origin where origin.agent_id = site.agent_id and origin.crawl_id = site.crawl_id and not origin.opened)`,
);

/** Origins whose first pages can be compared: enough are held, enough were visited, or there are no more. */
export const COMPLETE_SAMPLES = statement(
  { origin: 'text', sample: 'integer', visited: 'integer' },
  (p) => `
  select crawl_origin.organization_id::text as "organizationId", crawl_origin.agent_id::text as "agentId", crawl_origin.crawl_id::text as "crawlId", crawl_origin.earlier ${ACTIVE_ORIGINS}
   cross join lateral (
     select count(page.held) as held, count(*) filter (where page.state = 'done') as visited from knowledge_website_pages page
      where page.organization_id = crawl_origin.organization_id and page.agent_id = crawl_origin.agent_id and page.crawl_id = crawl_origin.crawl_id and page.origin = crawl_origin.origin) sampled
   where crawl_origin.origin = ${p.origin} and crawl_origin.opened and crawl_origin.repeated is null
     and (sampled.held >= ${p.sample} or sampled.visited >= ${p.visited} or sampled.held > 0 and not exists ${unfinished('page.crawl_id = crawl_origin.crawl_id and page.origin = crawl_origin.origin')})`,
);

export const TAKE_HELD = statement(
  { ...CRAWL, origin: 'text', holder: 'uuid', claimedUntil: 'timestamptz' },
  (p) => `
  update knowledge_website_pages page set claim_id = ${p.holder}, claimed_until = ${p.claimedUntil}
   where ${ofCrawl(p, 'page')} and page.origin = ${p.origin} and page.state = 'fetching' and page.held is not null
  returning ${PAGE_COLUMNS}, page.held::text as held`,
);

/**
 * Runs in the transaction that stores the page's document. A new crawl and the deletion of the agent wait for its locks; no
 * row where one of them came first.
 */
export const MARK_INDEXED = statement(
  {
    ...CRAWL,
    holder: 'uuid',
    id: 'uuid',
    documentId: 'uuid',
    reason: 'text',
    etag: 'text',
    lastModified: 'text',
    links: 'text',
  },
  (p) => `
  with site as (select 1 from knowledge_websites site where ${ofCrawl(p, 'site')} for share),
       owner as (select 1 from agents where organization_id = ${p.organizationId} and id = ${p.agentId} for key share)
  update knowledge_website_pages page
     set state = 'done', outcome = 'indexed', reason = ${p.reason}, gone = false, document_id = ${p.documentId}, etag = ${p.etag},
         last_modified = ${p.lastModified}, links = ${p.links}, claim_id = null, claimed_until = null
   where page.id = ${p.id} and ${ofCrawl(p, 'page')} and page.state = 'fetching' and page.claim_id = ${p.holder}
     and exists (select 1 from site) and exists (select 1 from owner)
  returning page.id`,
);

export const SKIP_COPIES = statement(
  CRAWL,
  (p) => `
  update knowledge_website_pages page
     set outcome = 'skipped', reason = 'It has the same text as ' || first.url || '.', copy_of = first.url_digest, etag = null, last_modified = null, links = null
    from (select distinct on (text_digest) text_digest, id, url, url_digest from knowledge_website_pages indexed
           where ${ofCrawl(p, 'indexed')} and outcome = 'indexed' and text_digest is not null
           order by text_digest, ${rank('indexed')}) first
   where ${ofCrawl(p, 'page')} and page.outcome = 'indexed' and page.text_digest = first.text_digest and page.id <> first.id`,
);

export const RETURN_COPIES = statement(
  { ...CRAWL, now: 'timestamptz' },
  (p) => `
  update knowledge_website_pages page set state = 'pending', outcome = null, reason = null, attempts = 0, copy_of = null, available_at = ${p.now}
    from (select distinct on (text_digest) id from knowledge_website_pages copy
           where ${ofCrawl(p, 'copy')} and outcome = 'skipped' and copy_of is not null and text_digest is not null
             and not exists (select 1 from knowledge_website_pages kept
               where ${ofCrawl(p, 'kept')} and kept.text_digest = copy.text_digest and kept.outcome = 'indexed')
           order by text_digest, ${rank('copy')}) first
   where page.id = first.id`,
);

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
