import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { type ColumnsOf, JsonDocument, queryBuilder } from '../../../platform/database/index.js';
import type { SyncState } from '../../index/domain/sync-status.js';
import type { PageOutcome } from '../domain/crawl-result.js';
import { heldPage } from '../domain/held-page.js';
import { unreadSitemaps } from '../domain/unread-sitemaps.js';

export const UNREAD_SITEMAPS = new JsonDocument('knowledge_website_origins.sitemaps', unreadSitemaps);
export const HELD_PAGE = new JsonDocument('knowledge_website_pages.held', heldPage);

/** The websites of one agent, and how their newest crawl stands. */
export const StoredWebsite = defineEntity({
  name: 'StoredWebsite',
  tableName: 'knowledge_websites',
  properties: {
    agentId: p.uuid().primary(),
    organizationId: p.uuid(),
    crawlId: p.uuid(),
    state: p.text().$type<SyncState>(),
    /** Until the crawl has ended, also where there is nothing to crawl and pages are to be removed. */
    workLeft: p.boolean(),
    budget: p.integer().strictNullable(),
    found: p.integer(),
    disallowed: p.integer(),
    budgetReached: p.boolean(),
    startedAt: p.datetime(3).strictNullable(),
    lastSuccessfulAt: p.datetime(3).strictNullable(),
    lastError: p.text().strictNullable(),
    activeAt: p.datetime(3),
    nextCrawlAt: p.datetime(3).strictNullable(),
  },
});

export const StoredRoot = defineEntity({
  name: 'StoredRoot',
  tableName: 'knowledge_website_roots',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    position: p.integer(),
    rootUrl: p.text(),
    excludedUrls: new JsonDocument('knowledge_website_roots.excluded_urls', z.array(z.string())).property(),
    selectedUrls: new JsonDocument('knowledge_website_roots.selected_urls', z.array(z.string())).property(),
  },
});

/** What a crawl knows of one origin of its sites. */
export const StoredOrigin = defineEntity({
  name: 'StoredOrigin',
  tableName: 'knowledge_website_origins',
  properties: {
    agentId: p.uuid().primary(),
    crawlId: p.uuid().primary(),
    origin: p.text().primary(),
    organizationId: p.uuid(),
    /** Its sitemaps were read; its pages are claimed from then on. */
    opened: p.boolean(),
    sitemaps: UNREAD_SITEMAPS.property().strictNullable(),
    availableAt: p.datetime(3),
    /** Keys of the blocks that stand on most of its pages, separated by spaces; null until the crawl knows them. */
    repeated: p.text().strictNullable(),
    /** The same of the crawl before. */
    earlier: p.text().strictNullable(),
  },
});

/** A page that a crawl has found; it stays from crawl to crawl. */
export const StoredPage = defineEntity({
  name: 'StoredPage',
  tableName: 'knowledge_website_pages',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    crawlId: p.uuid(),
    rootId: p.uuid(),
    origin: p.text(),
    url: p.text(),
    urlDigest: p.blob().$type<Buffer>(),
    depth: p.integer(),
    state: p.text().$type<'pending' | 'fetching' | 'done'>(),
    outcome: p.text().$type<PageOutcome>().strictNullable(),
    reason: p.text().strictNullable(),
    gone: p.boolean(),
    attempts: p.integer(),
    availableAt: p.datetime(3),
    /** Of the host's lease under which it is being visited. */
    claimId: p.uuid().strictNullable(),
    etag: p.text().strictNullable(),
    lastModified: p.text().strictNullable(),
    links: p.text().strictNullable(),
    documentId: p.uuid().strictNullable(),
    /** Of the address that it names as canonical, or that it has the same text as. */
    copyOf: p.blob().$type<Buffer>().strictNullable(),
    /** Of the address outside of the site that it redirects to. */
    movedTo: p.blob().$type<Buffer>().strictNullable(),
    textDigest: p.blob().$type<Buffer>().strictNullable(),
    /** What was read of it, while the site's sample is not complete. */
    held: HELD_PAGE.property().strictNullable().lazy(),
  },
});

/** A host that is crawled, for whatever organizations: a server does not care for whom. Times are the database's. */
export const CrawledHost = defineEntity({
  name: 'CrawledHost',
  tableName: 'crawl_hosts',
  properties: {
    host: p.text().primary(),
    /** Nothing is asked of it before. */
    nextAt: p.datetime(6),
    holder: p.uuid().strictNullable(),
    leasedUntil: p.datetime(6),
  },
});

interface WebsiteTables {
  knowledge_websites: ColumnsOf<typeof StoredWebsite>;
  knowledge_website_roots: ColumnsOf<typeof StoredRoot>;
  knowledge_website_origins: ColumnsOf<typeof StoredOrigin>;
  knowledge_website_pages: ColumnsOf<typeof StoredPage>;
  agents: { readonly id: string; readonly organization_id: string; readonly type: string };
}

/** For statements that no entity fits, and removals in batches. */
export const tables = queryBuilder<WebsiteTables>();
