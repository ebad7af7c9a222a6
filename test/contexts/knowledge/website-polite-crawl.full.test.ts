import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, until, useService } from '../../support/harness.js';
import { SiteServer, useSite } from '../../support/site-server.js';
import { AgentWebsite } from '../../support/websites.js';

const site = useSite();
const other = useSite();
/** Asks for a pause of hours. */
const paused = useSite();
/** Has a crawl delay, so its crawl takes seconds. It runs beside the other tests. */
const unhurried = new SiteServer();
/** More hosts than one process works on at a time. */
const slow = Array.from({ length: 12 }, () => useSite());
/** Asks for a pause of seconds. */
const hushed = useSite();
const sites = [site, other, paused, unhurried, hushed, ...slow];
const egressAllow = Object.assign(new Set<string>(), {
  has: (host: string) => sites.some(({ egressAllow: allowed }) => allowed.has(host)),
});
const service = useService({ egressAllow });
let organization: TestOrganization;
let ofUnhurried: AgentWebsite;
beforeAll(async () => {
  organization = await service.organization();
  await unhurried.listen();
  unhurried.robots(['User-agent: *', 'Crawl-delay: 1', `Sitemap: ${unhurried.url('/index.xml')}`]);
  unhurried.page('/index.xml', {
    type: 'application/xml',
    body: `<sitemapindex><sitemap><loc>${unhurried.url('/1.xml')}</loc></sitemap></sitemapindex>`,
  });
  unhurried.sitemap(['/old'], '/1.xml');
  for (const path of ['/', '/new']) unhurried.article(path, { title: path, text: `This is ${path}.` });
  unhurried.page('/old', { status: 301, headers: { location: '/new' } });
  ofUnhurried = await website();
  await ofUnhurried.put({ rootUrl: unhurried.url('/') });
});
afterAll(() => unhurried.close());

function website(): Promise<AgentWebsite> {
  return AgentWebsite.of(service, organization.key);
}

function pages(count: number, before?: () => Promise<unknown>): string[] {
  const links = Array.from({ length: count }, (_none, index) => `/p/${index}`);
  site.article('/', { title: 'Home', text: 'Home.', links });
  for (const link of links)
    site.page(link, { body: `<html><body>This is ${link}.</body></html>`, ...(before && { before }) });
  return links;
}

describe('a host', () => {
  it('gets at most four requests at a time, however many agents crawl it', async () => {
    const moment = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 20));
    pages(8, moment);
    const agents = await Promise.all([website(), website(), website()]);
    const crawled = await Promise.all(agents.map((agent) => agent.crawl({ rootUrl: site.url('/') })));
    for (const { sync } of crawled) expect(sync).toMatchObject({ state: 'SUCCESS', pages: { indexed: 9 } });
    expect(site.maxConcurrent).toBeLessThanOrEqual(4);
  });

  it('that answers 429 gets no request for its pages until the pause has passed', async () => {
    const links = pages(12);
    let refusedAt = 0;
    const requestedAt: number[] = [];
    for (const link of links) {
      site.page(link, (_request, response) => {
        requestedAt.push(Date.now());
        if (refusedAt > 0)
          response.writeHead(200, { 'content-type': 'text/html' }).end(`<html><body>This is ${link}.</body></html>`);
        else {
          refusedAt = Date.now();
          response.writeHead(429, { 'retry-after': '3' }).end();
        }
      });
    }
    const agent = await website();
    expect((await agent.crawl({ rootUrl: site.url('/') })).sync).toMatchObject({
      state: 'SUCCESS',
      pages: { found: 13, indexed: 13 },
    });
    // Requests that were in progress when it answered 429.
    expect(requestedAt.filter((at) => at < refusedAt + 2_500).length).toBeLessThanOrEqual(4);
  });

  it('that answers 429 gets no request for another agent either, not even for robots.txt or a sitemap', async () => {
    const requestedAt: number[] = [];
    let refusedAt = 0;
    const answered =
      (type: string, body: string) =>
      (_request: unknown, response: ServerResponse): void => {
        requestedAt.push(Date.now());
        response.writeHead(200, { 'content-type': type }).end(body);
      };
    hushed.page('/robots.txt', answered('text/plain', 'User-agent: *\nAllow: /\n'));
    hushed.page(
      '/sitemap.xml',
      answered('text/xml', `<urlset><url><loc>${hushed.url('/listed')}</loc></url></urlset>`),
    );
    hushed.page('/listed', answered('text/html', '<html><body>Listed</body></html>'));
    hushed.page('/', (request, response) => {
      if (refusedAt > 0) answered('text/html', '<html><body>Home</body></html>')(request, response);
      else response.writeHead(429, { 'retry-after': '4' }).end(() => (refusedAt = Date.now()));
    });
    const [first, second] = [await website(), await website()];
    const crawl = first.crawl({ rootUrl: hushed.url('/') });
    const held = (): Promise<unknown[]> =>
      service.database.query('select 1 from crawl_hosts where host = $1 and next_at > now()', [
        `127.0.0.1:${new URL(hushed.url('/')).port}`,
      ]);
    await until(async () => (await held()).length > 0, 'the host is to be left alone');
    const heldAt = Date.now();
    await second.put({ rootUrl: hushed.url('/') });
    expect((await crawl).sync).toMatchObject({ state: 'SUCCESS', pages: { found: 2, indexed: 2 } });
    expect((await second.crawled()).sync).toMatchObject({ state: 'SUCCESS', pages: { found: 2, indexed: 2 } });
    // The other request of the first agent may have been in progress.
    expect(requestedAt.filter((at) => at > heldAt && at < refusedAt + 3_500).length).toBeLessThanOrEqual(1);
  });

  it('that sends Retry-After 0 gets the next request after the usual pause', async () => {
    let tries = 0;
    site.page('/', (_request, response) => {
      tries += 1;
      response
        .writeHead(tries === 1 ? 429 : 200, { 'content-type': 'text/html', 'retry-after': '0' })
        .end('<html><body>Here</body></html>');
    });
    const agent = await website();
    expect((await agent.crawl({ rootUrl: site.url('/') })).sync).toMatchObject({
      state: 'SUCCESS',
      pages: { indexed: 1 },
    });
    expect(tries).toBe(2);
  });

  it('that asks for a pause of hours ends its crawl, and does not delay other crawls', async () => {
    const links = Array.from({ length: 30 }, (_none, index) => `/p/${index}`);
    paused.article('/', { title: 'Home', text: 'Home.', links });
    for (const link of links) paused.page(link, { status: 429, headers: { 'retry-after': '7200' } });
    other.article('/', { title: 'Home', text: 'Home.' });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: paused.url('/') }, { rootUrl: other.url('/') });
    expect(sync).toMatchObject({ state: 'PARTIAL_SUCCESS', pages: { found: 32, indexed: 2, failed: 30 } });
    expect(paused.requests.filter(({ path }) => path.startsWith('/p/')).length).toBeLessThanOrEqual(4);
  });
});

describe('a page whose response is cut off', () => {
  it('is tried twice', async () => {
    site.page('/', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' }).write('<html>');
      setImmediate(() => response.destroy());
    });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({
      state: 'FAILED',
      lastError: `${site.url('/')}: The response was cut off or not valid.`,
    });
    expect(site.count('/')).toBe(2);
  });
});

describe('a host with a crawl delay', () => {
  it('gets one request per slice, for sitemaps and redirects too, and all pages behind them are indexed', async () => {
    // More than a second for each of its five slices.
    expect((await ofUnhurried.crawled(55_000)).sync).toMatchObject({
      state: 'SUCCESS',
      pages: { found: 3, indexed: 2, skipped: 1 },
    });
    const once = ['/index.xml', '/1.xml', '/', '/old', '/new'];
    expect(once.map((path) => unhurried.count(path))).toEqual(once.map(() => 1));
  });

  // The last test: its sites keep their crawl delay for as long as the service runs.
  it('delays no crawl of another host, by its pages or its sitemaps', async () => {
    for (const host of slow) {
      host.robots([
        'User-agent: *',
        'Crawl-delay: 30',
        ...[1, 2, 3, 4].map((number) => `Sitemap: ${host.url(`/${number}.xml`)}`),
      ]);
      host.page('/', { status: 302, headers: { location: '/p/0' } });
    }
    site.article('/', { title: 'Quick', text: 'Quick.' });
    for (const [number, host] of slow.entries()) {
      // Sites of one agent, and agents of one site.
      const roots = number % 4 === 0 ? [slow[0], host] : [host];
      await (await website()).put(...[...new Set(roots)].map((root) => ({ rootUrl: root?.url('/') ?? '' })));
    }
    const quick = await website();
    const began = Date.now();
    expect((await quick.crawl({ rootUrl: site.url('/') })).sync).toMatchObject({
      state: 'SUCCESS',
      pages: { indexed: 1 },
    });
    expect(Date.now() - began).toBeLessThan(29_000);
    for (const host of slow)
      expect(host.requests.filter(({ path }) => path !== '/robots.txt').length).toBeLessThanOrEqual(2);
  });
});
