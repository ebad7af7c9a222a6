import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DocumentIndex } from '../../../src/knowledge/index/application/indexing/document-index.js';
import { CrawlOrigins } from '../../../src/knowledge/website/persistence/crawl-origins.repository.js';
import { CrawlPages } from '../../../src/knowledge/website/persistence/crawl-pages.repository.js';
import { WebsiteRepository } from '../../../src/knowledge/website/persistence/website.repository.js';
import { CrawlHost } from '../../../src/knowledge/website/application/crawl-host.js';
import { PAGES_AT_ONCE, SLICE_MS } from '../../../src/knowledge/website/limits.js';
import { ScheduleCrawls } from '../../../src/knowledge/website/jobs/schedule-crawls.job.js';
import { OutboxRelay } from '../../../src/platform/jobs/outbox-relay.js';
import { type TestOrganization, useService } from '../../support/harness.js';
import { refuseRows } from '../../support/refuse-rows.js';
import { useSite } from '../../support/site-server.js';
import { until } from '../../support/until.js';
import { AgentWebsite } from '../../support/websites.js';
import { SkippingClock } from '../tenants/world.js';

const site = useSite();
const clock = new SkippingClock();
const service = useService({ egressAllow: site.egressAllow, clock });
let organization: TestOrganization;
beforeAll(async () => {
  organization = await service.organization();
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Jobs that are due then start at once, not at the relay's next check. */
function skip(ms: number): void {
  clock.skip(ms);
  service.app.get(OutboxRelay, { strict: false }).trigger();
}

function website(): Promise<AgentWebsite> {
  return AgentWebsite.of(service, organization.key);
}

function pages(count: number): void {
  const links = Array.from({ length: count }, (_none, index) => `/p/${index}`);
  site.article('/', { title: 'Home', text: 'Home.', links });
  for (const link of links) site.article(link, { title: link, text: `This is ${link}.` });
}

/** A promise that a test settles. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

async function countOf(
  table: 'knowledge_documents' | 'knowledge_website_pages' | 'knowledge_websites',
  agentId: string,
): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    `select count(*)::int as count from ${table} where agent_id = $1::uuid`,
    [agentId],
  );
  return row?.count ?? 0;
}

describe('a worker that dies in a step', () => {
  /** Ends the call of a dead worker. It must end with the test, or the service could not stop. */
  let endDeadCall = (): void => undefined;
  const never = (): Promise<never> => {
    workers.alive -= 1;
    return new Promise((_resolve, reject) => (endDeadCall = () => reject(new Error('died'))));
  };
  afterEach(() => endDeadCall());

  /** Workers that are running. Each test has its own count, because a step may outlive its test. */
  let workers = { alive: 0 };
  beforeEach(() => {
    const own = { alive: 0 };
    workers = own;
    const { execute } = CrawlHost.prototype as {
      execute: (this: CrawlHost, ...parameters: Parameters<CrawlHost['execute']>) => ReturnType<CrawlHost['execute']>;
    };
    jest.spyOn(CrawlHost.prototype, 'execute').mockImplementation(async function (this: CrawlHost, ...parameters) {
      own.alive += 1;
      try {
        await execute.apply(this, parameters);
      } finally {
        own.alive -= 1;
      }
    });
  });

  const steps: readonly [string, () => void][] = [
    ['before its first page', () => jest.spyOn(CrawlPages.prototype, 'claim').mockImplementationOnce(never)],
    [
      'while the result of reading a sitemap is stored',
      () => jest.spyOn(CrawlOrigins.prototype, 'setUnreadSitemaps').mockRejectedValueOnce(new Error('died')),
    ],
    [
      'before links are stored',
      () => jest.spyOn(CrawlPages.prototype, 'record').mockRejectedValueOnce(new Error('died')),
    ],
    [
      'before the held pages are stored',
      () => jest.spyOn(CrawlPages.prototype, 'takeHeld').mockRejectedValueOnce(new Error('died')),
    ],
    [
      'before it releases the host',
      () =>
        jest
          .spyOn(CrawlPages.prototype, 'nextDue')
          .mockRejectedValueOnce(new Error('died'))
          .mockRejectedValueOnce(new Error('died')),
    ],
    [
      'before a document is stored',
      () => jest.spyOn(CrawlPages.prototype, 'markIndexed').mockImplementationOnce(async () => false),
    ],
    [
      'before documents of missing pages are removed',
      () => jest.spyOn(CrawlPages.prototype, 'takeDocuments').mockRejectedValueOnce(new Error('died')),
    ],
    [
      'before the state of the sync is stored',
      () => jest.spyOn(WebsiteRepository.prototype, 'endCrawl').mockRejectedValueOnce(new Error('died')),
    ],
  ];

  it.each(steps)('(%s) leaves a crawl that another worker completes', async (_where, die) => {
    pages(5);
    const agent = await website();
    die();
    await agent.put({ rootUrl: site.url('/') });
    await until(
      async () => {
        // Lets the schedule run and the dead worker's lease end. Running workers would lose their leases too.
        if (workers.alive === 0) {
          skip(60_000);
          await service.app.get(ScheduleCrawls, { strict: false }).execute(AbortSignal.timeout(60_000));
          await service.database.query(`update crawl_hosts set leased_until = leased_until - interval '60 seconds'`);
        }
        return (await agent.read()).body.sync.state !== 'IN_PROGRESS';
      },
      'the crawl ends',
      { everyMs: 100 },
    );
    expect((await agent.read()).body.sync).toMatchObject({ state: 'SUCCESS', pages: { found: 6, indexed: 6 } });
    expect(await countOf('knowledge_documents', agent.agentId)).toBe(6);
  });
});

describe('two workers on one crawl', () => {
  it('visit each page once', async () => {
    pages(30);
    const agent = await website();
    const replica = await service.replica();
    try {
      await agent.put({ rootUrl: site.url('/') });
      const execute = (app: typeof service.app): Promise<void> =>
        app.get(CrawlHost, { strict: false }).execute(site.origin, AbortSignal.timeout(60_000));
      await until(
        async () => {
          await Promise.all([service, replica, service, replica].map(({ app }) => execute(app)));
          return (await agent.read()).body.sync.state !== 'IN_PROGRESS';
        },
        'the crawl ends',
        { everyMs: 0 },
      );
      expect((await agent.read()).body.sync).toMatchObject({ state: 'SUCCESS', pages: { found: 31, indexed: 31 } });
    } finally {
      await replica.close();
    }
    for (let index = 0; index < 30; index += 1) expect(site.count(`/p/${index}`)).toBe(1);
    expect(site.maxConcurrent).toBeLessThanOrEqual(4);
  });

  it('store one outcome of each page when one of them loses the lease while it works', async () => {
    pages(12);
    const held = gate();
    const asked = gate();
    site.page('/p/3', {
      body: '<html><body>Held</body></html>',
      before: async () => {
        asked.open();
        await held.opened;
      },
    });
    const agent = await website();
    await agent.put({ rootUrl: site.url('/') });
    await asked.opened;
    site.article('/p/3', { title: 'Three', text: 'Read by the second.' });
    await service.database.query(`update crawl_hosts set leased_until = now() where host = $1`, [site.host]);
    await service.app.get(CrawlHost, { strict: false }).execute(site.origin, AbortSignal.timeout(60_000));
    held.open();
    expect((await agent.crawled()).sync).toMatchObject({ state: 'SUCCESS', pages: { found: 13, indexed: 13 } });
    const [row] = await service.database.query<{ text: string }>(
      `select string_agg(c.text, ' ') as text from knowledge_chunks c join knowledge_documents d on d.id = c.document_id where d.agent_id = $1::uuid and d.url = $2`,
      [agent.agentId, site.url('/p/3')],
    );
    expect(row?.text).toContain('Read by the second.');
  });
});

describe('a crawl of one organization', () => {
  it('gets its one page soon, however many pages another organization has on the same host', async () => {
    const other = await service.organization();
    pages(300);
    const held = gate();
    for (let index = 0; index < 300; index += 1)
      site.page(`/p/${index}`, { body: `<html><body>This is ${index}.</body></html>`, before: () => held.opened });
    site.article('/single/', { title: 'Single', text: 'A single page.' });
    const many = await website();
    await many.put({ rootUrl: site.url('/') });
    await until(() => site.concurrent > 1, 'the first crawl is in progress');
    const one = await AgentWebsite.of(service, other.key);
    await one.put({ rootUrl: site.url('/single') });
    await until(
      async () => (await countOf('knowledge_website_pages', one.agentId)) > 0,
      'the second crawl waits for the host',
    );
    // Ends the slice that began before the second crawl: the test counts pages, not time.
    clock.skip(SLICE_MS);
    held.open();
    await until(() => site.count('/single/') > 0, 'the single page is fetched');
    expect(site.requests.filter(({ path }) => path.startsWith('/p/')).length).toBeLessThanOrEqual(6 * PAGES_AT_ONCE);
    expect((await one.crawled()).sync).toMatchObject({ state: 'SUCCESS', pages: { found: 1, indexed: 1 } });
    await many.crawl();
  });
});

describe('a crawl in progress', () => {
  it('stores nothing more once another one has replaced it', async () => {
    const held = gate();
    const asked = gate();
    site.article('/old/', { title: 'Old', text: 'Old.', links: ['/old/slow'] });
    site.page('/old/slow', {
      body: '<html><body>Slow</body></html>',
      before: async () => {
        asked.open();
        await held.opened;
      },
    });
    site.article('/new/', { title: 'New', text: 'New.' });
    const agent = await website();
    await agent.put({ rootUrl: site.url('/old') });
    await asked.opened;
    const after = await agent.crawl({ rootUrl: site.url('/new') });
    held.open();
    expect(after.sync).toMatchObject({ state: 'SUCCESS', pages: { found: 1, indexed: 1 } });
    await until(() => site.concurrent === 0, 'the slow page was answered');
    // After one more crawl, the old step has stored whatever it would store.
    expect((await agent.crawl({ rootUrl: site.url('/new') })).sync.state).toBe('SUCCESS');
    expect(await countOf('knowledge_documents', agent.agentId)).toBe(1);
  });

  it('ends with its agent, and leaves nothing', async () => {
    const held = gate();
    const asked = gate();
    site.article('/', { title: 'Home', text: 'Home.', links: ['/slow'] });
    site.page('/slow', {
      body: '<html><body>Slow</body></html>',
      before: async () => {
        asked.open();
        await held.opened;
      },
    });
    const agent = await website();
    await agent.put({ rootUrl: site.url('/') });
    await asked.opened;
    expect((await service.http('DELETE', `/v1/agents/${agent.agentId}`, { key: organization.key })).status).toBe(200);
    held.open();
    expect((await agent.read()).status).toBe(404);
    await until(
      async () =>
        (await countOf('knowledge_websites', agent.agentId)) +
          (await countOf('knowledge_website_pages', agent.agentId)) ===
        0,
      'its rows are removed',
    );
    await until(() => site.concurrent === 0, 'the slow page was answered');
    const { text } = await service.http('GET', '/health/ready');
    expect(text).not.toContain('"down"');
  });

  it('continues when the database is available again', async () => {
    pages(4);
    const agent = await website();
    const bringBack = await refuseRows(service.database, {
      change: 'update',
      on: 'knowledge_website_pages',
      when: "new.outcome = 'indexed'",
      error: 'disk_full',
    });
    await agent.put({ rootUrl: site.url('/') });
    await until(() => site.count('/') > 0, 'the first page was fetched');
    expect((await agent.read()).body.sync.state).toBe('IN_PROGRESS');
    await bringBack();
    expect((await agent.crawled()).sync).toMatchObject({ state: 'SUCCESS', pages: { found: 5, indexed: 5 } });
  });

  it('ends although the index cannot store one of its pages', async () => {
    pages(2);
    const index = service.app.get(DocumentIndex, { strict: false });
    const put = index.put.bind(index);
    jest
      .spyOn(index, 'put')
      .mockImplementation((source, ...more) =>
        source.url?.endsWith('/p/1') ? Promise.reject(new Error('cannot')) : put(source, ...more),
      );
    const agent = await website();
    await agent.put({ rootUrl: site.url('/') });
    await until(
      async () => {
        skip(8_000);
        return (await agent.read()).body.sync.state !== 'IN_PROGRESS';
      },
      'the crawl ends',
      { everyMs: 50 },
    );
    expect((await agent.read()).body.sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      pages: { found: 3, indexed: 2, failed: 1 },
    });
  });

  it('tries a page again after 503', async () => {
    let tries = 0;
    site.page('/busy/', (_request, response) => {
      tries += 1;
      response.writeHead(tries < 3 ? 503 : 200, { 'content-type': 'text/html' }).end('<html><body>Here</body></html>');
    });
    const agent = await website();
    await agent.put({ rootUrl: site.url('/busy') });
    await until(
      async () => {
        skip(8_000);
        return (await agent.read()).body.sync.state !== 'IN_PROGRESS';
      },
      'the crawl ends',
      { everyMs: 50 },
    );
    expect((await agent.read()).body.sync).toMatchObject({ state: 'SUCCESS', pages: { found: 1, indexed: 1 } });
    expect(tries).toBe(3);
  });
});

// The last test: the crawls of other agents become due too.
describe('a crawl that has ended', () => {
  it('is repeated within a day, and not at once', async () => {
    site.article('/', { title: 'Home', text: 'Home.' });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    clock.skip(3_500_000);
    await service.app.get(ScheduleCrawls, { strict: false }).execute(AbortSignal.timeout(60_000));
    expect((await agent.read()).body.sync.startedAt).toBe(sync.startedAt);
    clock.skip(24 * 3_600_000);
    await service.app.get(ScheduleCrawls, { strict: false }).execute(AbortSignal.timeout(60_000));
    const again = await agent.crawled();
    expect(again.sync.startedAt).not.toBe(sync.startedAt);
    expect(again.sync.state).toBe('SUCCESS');
  });
});
