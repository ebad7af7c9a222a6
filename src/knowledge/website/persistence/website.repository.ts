import { Injectable } from '@nestjs/common';
import { Database, inBatches, type SqlExecutor, statement, toDate, type Transaction } from '../../../platform/database/index.js';
import type { SyncState, SyncStatus } from '../../index/domain/sync-status.js';
import type { WebsiteRoot } from '../domain/website-root.js';
import { EXCLUDED_URLS, SELECTED_URLS } from './website.schema.js';

export interface PageCounts {
  readonly found: number;
  readonly indexed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What an agent knows of websites, as clients read it. */
export interface Website {
  readonly roots: readonly WebsiteRoot[];
  readonly sync: SyncStatus;
  readonly pages: PageCounts;
}

/** One crawl of all sites of an agent. Each has an id of its own; the website's is that of the only one that counts. */
export interface CrawlKey {
  readonly organizationId: string;
  readonly agentId: string;
  readonly crawlId: string;
}

/** The current crawl, and what it is about. */
export interface CurrentCrawl extends CrawlKey {
  readonly roots: readonly WebsiteRoot[];
  /** Of pages; null until the first step has set it. */
  readonly budget: number | null;
  readonly budgetReached: boolean;
  /** When it was asked for. */
  readonly startedAt: Date | null;
}

interface WebsiteRow {
  readonly state: SyncState;
  readonly crawl_id: string;
  readonly last_error: string | null;
  readonly last_successful_at: string | null;
  readonly started_at: string | null;
  readonly budget: number | null;
  readonly budget_reached: boolean;
}

interface RootRow {
  readonly id: string;
  readonly root_url: string;
  readonly excluded_urls: string;
  readonly selected_urls: string;
}

const AGENT = { organizationId: 'uuid', agentId: 'uuid' } as const;

const FIND = statement(
  AGENT,
  (p) => `
  select state, crawl_id::text as crawl_id, last_error, last_successful_at, started_at, budget, budget_reached
    from knowledge_websites where organization_id = ${p.organizationId} and agent_id = ${p.agentId}`,
);

const FIND_OF_LIVE_AGENT = statement(
  AGENT,
  (p) => `
  select state, crawl_id::text as crawl_id, last_error, last_successful_at, started_at, budget, budget_reached
    from knowledge_websites site
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
     and exists (select 1 from agents where agents.organization_id = site.organization_id and agents.id = site.agent_id)`,
);

const LOCK_AGENT = statement(
  AGENT,
  (p) => `select type from agents where organization_id = ${p.organizationId} and id = ${p.agentId} for key share`,
);

const ORGANIZATION = statement(
  { agentId: 'uuid' },
  (p) => `select organization_id::text as id from knowledge_websites where agent_id = ${p.agentId}`,
);

const ROOTS = statement(
  AGENT,
  (p) => `
  select id::text as id, root_url, excluded_urls::text as excluded_urls, selected_urls::text as selected_urls
    from knowledge_website_roots where organization_id = ${p.organizationId} and agent_id = ${p.agentId} order by position`,
);

const COUNTS = statement(
  { ...AGENT, crawlId: 'uuid' },
  (p) => `
  select count(*)::int as found, (count(*) filter (where outcome = 'indexed'))::int as indexed,
         (count(*) filter (where outcome = 'failed'))::int as failed, (count(*) filter (where outcome = 'skipped'))::int as skipped
    from knowledge_website_pages
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and crawl_id = ${p.crawlId}`,
);

const SAVE = statement(
  { ...AGENT, crawlId: 'uuid', state: 'text', startedAt: 'timestamptz', now: 'timestamptz' },
  (p) => `
  insert into knowledge_websites (agent_id, organization_id, crawl_id, state, work_left, started_at, active_at)
  values (${p.agentId}, ${p.organizationId}, ${p.crawlId}, ${p.state}, true, ${p.startedAt}, ${p.now})
  on conflict (agent_id) do update set
    crawl_id = excluded.crawl_id, state = excluded.state, work_left = true, started_at = excluded.started_at, active_at = excluded.active_at,
    budget = null, found = 0, disallowed = 0, budget_reached = false, next_crawl_at = null`,
);

const REMOVE_ROOTS = statement(
  AGENT,
  (p) => `delete from knowledge_website_roots where organization_id = ${p.organizationId} and agent_id = ${p.agentId}`,
);

const INSERT_ROOTS = statement(
  { ...AGENT, rows: 'jsonb' },
  (p) => `
  insert into knowledge_website_roots (id, organization_id, agent_id, position, root_url, excluded_urls, selected_urls)
  select id, ${p.organizationId}, ${p.agentId}, position, root_url, excluded_urls, selected_urls
    from jsonb_to_recordset(${p.rows}) as rows (id uuid, position integer, root_url text, excluded_urls jsonb, selected_urls jsonb)`,
);

const SELECT_PAGES = statement(
  { ...AGENT, id: 'uuid', urls: 'jsonb' },
  (p) => `
  update knowledge_website_roots set selected_urls = ${p.urls}
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and id = ${p.id}`,
);

/** The websites of one agent at a time. */
@Injectable()
export class WebsiteRepository {
  constructor(private readonly database: Database) {}

  /** @returns null when none was ever set */
  async find(organizationId: string, agentId: string): Promise<Website | null> {
    const [row] = await FIND.run<WebsiteRow>(this.database, { organizationId, agentId });
    if (!row) return null;
    const roots = await this.roots(this.database, organizationId, agentId);
    const [pages] = await COUNTS.run<PageCounts>(this.database, { organizationId, agentId, crawlId: row.crawl_id });
    const sync = {
      state: row.state,
      lastError: row.last_error,
      lastSuccessfulSyncAt: dateOf(row.last_successful_at),
      startedAt: dateOf(row.started_at),
    };
    return { roots, sync, pages: pages ?? { found: 0, indexed: 0, failed: 0, skipped: 0 } };
  }

  /** @returns null when the crawl is not, or no longer, the agent's current one, or the agent is gone */
  async currentCrawl({ organizationId, agentId, crawlId }: CrawlKey): Promise<CurrentCrawl | null> {
    const [row] = await FIND_OF_LIVE_AGENT.run<WebsiteRow>(this.database, { organizationId, agentId });
    if (row?.crawl_id !== crawlId) return null;
    const roots = await this.roots(this.database, organizationId, agentId);
    return { organizationId, agentId, crawlId, roots, budget: row.budget, budgetReached: row.budget_reached, startedAt: dateOf(row.started_at) };
  }

  /** Keeps the agent from being deleted until the transaction ends. @returns its type; null when there is no such agent */
  async lockAgent(transaction: Transaction, organizationId: string, agentId: string): Promise<string | null> {
    const [row] = await LOCK_AGENT.run<{ type: string }>(transaction, { organizationId, agentId });
    return row?.type ?? null;
  }

  /** For the operator, who names no organization; null where the agent never had a website. */
  async organizationOf(transaction: Transaction, agentId: string): Promise<string | null> {
    const [row] = await ORGANIZATION.run<{ id: string }>(transaction, { agentId });
    return row?.id ?? null;
  }

  /** The agent's crawl from now on; writes of one agent's website come one after the other from here. */
  async save(transaction: Transaction, crawl: CrawlKey, state: 'IN_PROGRESS' | 'SUSPENDED', now: Date): Promise<void> {
    const { organizationId, agentId, crawlId } = crawl;
    const startedAt = state === 'IN_PROGRESS' ? now : null;
    await SAVE.run(transaction, { organizationId, agentId, crawlId, state, startedAt, now });
  }

  /** In the order in which they were given. */
  async roots(executor: SqlExecutor, organizationId: string, agentId: string): Promise<WebsiteRoot[]> {
    const rows = await ROOTS.run<RootRow>(executor, { organizationId, agentId });
    return rows.map((row) => ({
      id: row.id,
      rootUrl: row.root_url,
      excludedUrls: EXCLUDED_URLS.readText(row.excluded_urls, row.id),
      selectedUrls: SELECTED_URLS.readText(row.selected_urls, row.id),
    }));
  }

  async replaceRoots(transaction: Transaction, organizationId: string, agentId: string, roots: readonly WebsiteRoot[]): Promise<void> {
    await REMOVE_ROOTS.run(transaction, { organizationId, agentId });
    const rows = roots.map(({ id, rootUrl, excludedUrls, selectedUrls }, position) => ({
      id, position, root_url: rootUrl, excluded_urls: excludedUrls, selected_urls: selectedUrls,
    }));
    for (const batch of inBatches(rows, (row) => JSON.stringify(row).length)) {
      await INSERT_ROOTS.run(transaction, { organizationId, agentId, rows: batch });
    }
  }

  async select(transaction: Transaction, organizationId: string, agentId: string, id: string, urls: readonly string[]): Promise<void> {
    await SELECT_PAGES.run(transaction, { organizationId, agentId, id, urls });
  }
}

function dateOf(value: string | null): Date | null {
  return value === null ? null : toDate(value);
}
