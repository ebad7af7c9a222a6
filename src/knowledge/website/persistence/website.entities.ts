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

/** A page that a crawl has found, without the columns that only statements use. The next crawl takes over the row. */
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
    availableAt: p.datetime(3),
  },
});
