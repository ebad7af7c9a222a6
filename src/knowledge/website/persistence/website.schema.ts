import { z } from 'zod';
import { type ContextSchema, JsonDocument, migration } from '../../../platform/database/index.js';
import { unreadSitemaps } from '../application/sitemaps.js';

export const EXCLUDED_URLS = new JsonDocument('knowledge_website_roots.excluded_urls', z.array(z.string()));
export const SELECTED_URLS = new JsonDocument('knowledge_website_roots.selected_urls', z.array(z.string()));
export const UNREAD_SITEMAPS = new JsonDocument('knowledge_website_origins.sitemaps', unreadSitemaps);

/** No foreign key leads to the agent: an agent's pages are removed in batches. */
const init = migration('2026112340_knowledge_websites', [
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
  `create table knowledge_website_origins (
    agent_id uuid not null references knowledge_websites (agent_id) on delete cascade,
    organization_id uuid not null,
    crawl_id uuid not null,
    origin text not null,
    primary key (agent_id, crawl_id, origin)
  )`,
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
    unique (agent_id, url_digest)
  )`,
  `create index knowledge_website_pages_pending on knowledge_website_pages (crawl_id, origin, depth, id) where state = 'pending'`,
  `create index knowledge_website_pages_claimed on knowledge_website_pages (crawl_id) where state = 'fetching'`,
]);

/** By the digest of its address, the page that a skipped page is a copy of, or redirects to. */
const copies = migration('2026112370_knowledge_website_copies', [
  'alter table knowledge_website_pages add column copy_of bytea, add column moved_to bytea',
]);

/** What is left to be read of a site's sitemaps; null once all were. */
const withUnreadSitemaps = migration('2026112391_knowledge_website_unread_sitemaps', ['alter table knowledge_website_origins add column sitemaps jsonb']);

export const websiteSchema: ContextSchema = { entities: [], documents: [EXCLUDED_URLS, SELECTED_URLS, UNREAD_SITEMAPS], migrations: [init, copies, withUnreadSitemaps] };
