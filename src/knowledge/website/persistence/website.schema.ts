import type { ContextSchema } from '../../../platform/database/index.js';
import { HELD_PAGE, StoredOrigin, StoredPage, StoredRoot, StoredWebsite } from './website.entities.js';

/**
 * Hosts, shared by all organizations. A host has a row only while it is crawled or has asked for a pause. Times are by the database's clock.
 * One worker at a time has a host. `crawl_host_slots` is the former release's, which may run beside this one.
 */
const crawlHosts = [
  `create table crawl_host_slots (
    host text not null,
    slot smallint not null,
    holder uuid not null,
    leased_until timestamptz not null,
    primary key (host, slot)
  )`,
  `create index crawl_host_slots_leased_until on crawl_host_slots (leased_until)`,
  `create table crawl_hosts (
    host text primary key,
    next_at timestamptz not null default 'epoch',
    wanted_at timestamptz not null default 'epoch',
    wanted_by uuid,
    holder uuid,
    leased_until timestamptz not null default 'epoch'
  )`,
];

/** No foreign key leads to the agent: an agent's pages are removed in batches. */
const websites = [
  `create table knowledge_websites (
    agent_id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    crawl_id uuid not null,
    state text not null check (state in ('IN_PROGRESS', 'SUCCESS', 'PARTIAL_SUCCESS', 'FAILED', 'SUSPENDED')),
    work_left boolean not null,
    budget integer,
    found integer not null default 0,
    disallowed integer not null default 0,
    budget_reached boolean not null default false,
    started_at timestamptz(3),
    last_successful_at timestamptz(3),
    last_error text,
    active_at timestamptz(3) not null,
    next_crawl_at timestamptz(3)
  )`,
  'create index knowledge_websites_due on knowledge_websites (next_crawl_at) where next_crawl_at is not null',
  'create index knowledge_websites_standing on knowledge_websites (active_at) where work_left',
  `create table knowledge_website_roots (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null references knowledge_websites (agent_id) on delete cascade,
    position integer not null,
    root_url text not null,
    excluded_urls jsonb not null,
    selected_urls jsonb not null
  )`,
  'create index knowledge_website_roots_agent on knowledge_website_roots (agent_id, position)',
  // `sitemaps`: what is left to be read of them; null once all were. `repeated`: what is boilerplate on the pages of the host.
  `create table knowledge_website_origins (
    agent_id uuid not null references knowledge_websites (agent_id) on delete cascade,
    organization_id uuid not null,
    crawl_id uuid not null,
    origin text not null,
    sitemaps jsonb,
    opened boolean not null default true,
    available_at timestamptz(3) not null default 'epoch',
    repeated text,
    earlier text,
    primary key (agent_id, crawl_id, origin)
  )`,
  'create index knowledge_website_origins_origin on knowledge_website_origins (origin)',
  // `copy_of` and `moved_to`: by the digest of its address, the page that a skipped page is a copy of, names as canonical or
  // redirects to on another origin. `text_digest` finds the pages that have the same text.
  `create table knowledge_website_pages (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    agent_id uuid not null,
    crawl_id uuid not null,
    root_id uuid not null,
    origin text not null,
    url text not null,
    url_digest bytea not null,
    depth integer not null,
    state text not null check (state in ('pending', 'fetching', 'done')),
    outcome text check (outcome in ('indexed', 'failed', 'skipped')),
    reason text,
    gone boolean not null default false,
    attempts integer not null default 0,
    available_at timestamptz(3) not null,
    claim_id uuid,
    claim_job uuid,
    claimed_until timestamptz(3),
    etag text,
    last_modified text,
    links text,
    document_id uuid,
    copy_of bytea,
    moved_to bytea,
    text_digest bytea,
    held jsonb,
    unique (agent_id, url_digest)
  )`,
  `create index knowledge_website_pages_pending on knowledge_website_pages (crawl_id, origin, depth, id) where state = 'pending'`,
  `create index knowledge_website_pages_claimed on knowledge_website_pages (crawl_id) where state = 'fetching'`,
  'create index knowledge_website_pages_text on knowledge_website_pages (crawl_id, text_digest) where text_digest is not null',
];

export const crawlHostsSchema: ContextSchema = { entities: [], base: crawlHosts };

export const websiteSchema: ContextSchema = {
  entities: [StoredWebsite, StoredRoot, StoredOrigin, StoredPage],
  documents: [HELD_PAGE],
  base: [...websites, ...crawlHosts],
};
