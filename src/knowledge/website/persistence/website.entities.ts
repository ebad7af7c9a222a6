import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { JsonDocument } from '../../../platform/database/index.js';
import type { SyncState } from '../../index/domain/sync-status.js';
import type { PageOutcome } from '../domain/crawl-result.js';
import { heldPage } from '../domain/held-page.js';
import { unreadSitemaps } from '../domain/unread-sitemaps.js';

export const UNREAD_SITEMAPS = new JsonDocument('knowledge_website_origins.sitemaps', unreadSitemaps);
export const HELD_PAGE = new JsonDocument('knowledge_website_pages.held', heldPage);

/** The websites of one agent, and the state of their newest crawl. */
export const StoredWebsite = defineEntity({
  name: 'StoredWebsite',
  tableName: 'knowledge_websites',
  properties: {
    agentId: p.uuid().primary(),
    organizationId: p.uuid(),
    crawlId: p.uuid(),
    state: p.text().$type<SyncState>(),
    /** True until the crawl has ended. A crawl without sites has work too: it removes pages. */
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

/** One origin of the sites of a crawl. */
export const StoredOrigin = defineEntity({
  name: 'StoredOrigin',
  tableName: 'knowledge_website_origins',
  properties: {
    agentId: p.uuid().primary(),
    crawlId: p.uuid().primary(),
    origin: p.text().primary(),
    organizationId: p.uuid(),
    /** Pages of the origin are claimed once this is true. */
    hasReadSitemaps: p.boolean().fieldName('opened'),
    sitemaps: UNREAD_SITEMAPS.property().strictNullable(),
    availableAt: p.datetime(3),
    /** Keys of the blocks that are on most of its pages, separated by spaces; null until the crawl has compared the first pages. */
    repeated: p.text().strictNullable(),
    /** `repeated` of the crawl before. */
    earlier: p.text().strictNullable(),
  },
});

/** A page that a crawl has found. The next crawl takes over the row. */
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
    /** The server answered 404 or 410. */
    isMissing: p.boolean().fieldName('gone'),
    attempts: p.integer(),
    availableAt: p.datetime(3),
    /** The id of the host lease under which it is being visited. */
    claimId: p.uuid().strictNullable(),
    etag: p.text().strictNullable(),
    lastModified: p.text().strictNullable(),
    links: p.text().strictNullable(),
    documentId: p.uuid().strictNullable(),
    /** Digest of the address that it names as canonical, or that has the same text. */
    copyOf: p.blob().$type<Buffer>().strictNullable(),
    /** Digest of the address on another origin that it redirects to. */
    movedTo: p.blob().$type<Buffer>().strictNullable(),
    textDigest: p.blob().$type<Buffer>().strictNullable(),
    /** The page's content until the first pages of its origin can be compared. */
    held: HELD_PAGE.property().strictNullable().lazy(),
  },
});

/** A host that is being crawled, shared by all organizations. Times are by the database's clock. */
export const CrawledHost = defineEntity({
  name: 'CrawledHost',
  tableName: 'crawl_hosts',
  properties: {
    host: p.text().primary(),
    /** No request is sent to it before this time. */
    nextAt: p.datetime(6),
    holder: p.uuid().strictNullable(),
    leasedUntil: p.datetime(6),
  },
});
