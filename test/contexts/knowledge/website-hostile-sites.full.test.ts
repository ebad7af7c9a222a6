import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { OutboxRelay } from '../../../src/platform/jobs/outbox-relay.js';
import { ADDRESS_CORPUS, misleadingUrls } from '../../support/address-corpus.js';
import { Canary } from '../../support/canary.js';
import { type TestOrganization, useService } from '../../support/harness.js';
import { hurryParsers } from '../../support/hurried-parsers.js';
import { nestedFormsPdf } from '../../support/nested-forms-pdf.js';
import { type SiteListener, useSite } from '../../support/site-server.js';
import { until } from '../../support/until.js';
import { AgentWebsite } from '../../support/websites.js';
import { SkippingClock } from '../tenants/world.js';

/** Shortens the timeouts of requests, so that a stalled server does not stall the test for as long. */
class HurriedClock extends SkippingClock {
  override after(ms: number, task: () => void): () => void {
    return super.after(this.hurried && ms >= 10_000 && ms <= 30_000 ? ms / 30 : ms, task);
  }
  hurried = false;
}

/** Each test has its own, because rules of robots.txt are cached. */
const linking = useSite();
const faulty = useSite();
const misleading = useSite();
const egressAllow = Object.assign(new Set<string>(), {
  has: (host: string) => [linking, faulty, misleading].some((site) => site.egressAllow.has(host)),
});
const clock = new HurriedClock();
const service = useService({ egressAllow, clock });
let organization: TestOrganization;
beforeAll(async () => {
  organization = await service.organization();
});
afterEach(() => {
  clock.hurried = false;
  jest.restoreAllMocks();
});

const inAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const inText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

describe('a site that names addresses that are not public', () => {
  let canary: Canary | undefined;
  afterEach(() => canary?.close());

  it('in links, sitemaps, canonical addresses, redirects and robots.txt causes no connection to them', async () => {
    canary = await Canary.start();
    const { port } = canary;
    const urls = [...ADDRESS_CORPUS.map(({ host }) => `http://${host}:${port}/`), ...misleadingUrls(port)];
    // As many as the crawl reads of one robots.txt, from all parts of the list.
    linking.robots([
      'User-agent: *',
      'Allow: /',
      ...urls.filter((_url, index) => index % 5 === 0).map((url) => `Sitemap: ${url}`),
      `Sitemap: ${linking.url('/pages.xml')}`,
    ]);
    linking.sitemap(urls.map(inText), '/pages.xml');
    const links = urls.map((url) => `<a href="${inAttribute(url)}">x</a>`).join(' ');
    const own = urls
      .flatMap((_url, index) => [`<a href="/canonical/${index}">c</a>`, `<a href="/redirect/${index}">r</a>`])
      .join(' ');
    linking.page('/', `<html><body>Text ${links} ${own}</body></html>`);
    for (const [index, url] of urls.entries()) {
      const at = inAttribute(url);
      // Pages with noindex are read like others, and take less time.
      linking.page(
        `/canonical/${index}`,
        `<html><head><meta name="robots" content="noindex"><link rel="canonical" href="${at}"><meta http-equiv="refresh" content="0;url=${at}"></head><body>Text</body></html>`,
      );
      linking.page(`/redirect/${index}`, (_request, response) => {
        response.socket?.end(
          `HTTP/1.1 302 Found\r\nlocation: ${url.replaceAll(/[\r\n]/g, '')}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        );
      });
    }
    const large = await service.organization('--crawl-pages', '2000');
    const agent = await AgentWebsite.of(service, large.key);
    const { sync } = await agent.crawl({ rootUrl: linking.url('/') });
    expect(sync.pages.indexed).toBe(1);
    expect(
      urls.filter(
        (_url, index) => linking.count(`/canonical/${index}`) === 0 || linking.count(`/redirect/${index}`) === 0,
      ),
    ).toEqual([]);
    expect(canary.connections).toBe(0);
  });
});

describe('a site whose server does everything wrong', () => {
  const zeros = gzipSync(Buffer.alloc(10 * 1024 * 1024), { level: 9 });
  /** A gzip file may have many members: 10 GB of zeros. */
  const bomb: SiteListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
    for (let member = 0; member < 1_024 && !response.destroyed; member += 1) response.write(zeros);
    response.end();
  };
  const endless: SiteListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const part = Buffer.alloc(256 * 1024, 'endless ');
    const go = (): void => {
      while (!response.destroyed && response.write(part));
      if (!response.destroyed) response.once('drain', go);
    };
    go();
  };
  const drip: SiteListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const timer = setInterval(() => response.write('x'), 100);
    response.once('close', () => clearInterval(timer));
  };

  it('fails only the faulty pages, and indexes all others', async () => {
    clock.hurried = true;
    const slow = nestedFormsPdf();
    hurryParsers(50, ({ url }) => url?.endsWith('/slow.pdf') === true);
    const bad = ['/drip', '/endless', '/circle', '/bomb', '/slow.pdf', '/archive'];
    const good = Array.from({ length: 10 }, (_none, index) => `/good/${index}`);
    faulty.article('/', { title: 'Home', text: 'Home.', links: [...bad, ...good] });
    for (const path of good) faulty.article(path, { title: path, text: `This is ${path}.` });
    faulty.page('/drip', drip);
    faulty.page('/endless', endless);
    faulty.page('/circle', { status: 302, headers: { location: '/circle' } });
    faulty.page('/bomb', bomb);
    faulty.page('/slow.pdf', { type: 'application/pdf', body: slow });
    faulty.page('/archive', { type: 'text/html', body: Buffer.concat([Buffer.from('PK\x03\x04'), zeros]) });
    const agent = await AgentWebsite.of(service, organization.key);
    await agent.put({ rootUrl: faulty.url('/') });
    await until(
      async () => {
        clock.skip(8_000);
        service.app.get(OutboxRelay, { strict: false }).trigger();
        return (await agent.read()).body.sync.state !== 'IN_PROGRESS';
      },
      'the crawl ends',
      { everyMs: 100 },
    );
    const { sync } = (await agent.read()).body;
    expect(sync).toMatchObject({ state: 'PARTIAL_SUCCESS', pages: { found: 17, indexed: 11 } });
    const rows = await service.database.query<{ path: string; outcome: string; reason: string }>(
      `select url as path, outcome, reason from knowledge_website_pages where agent_id = $1::uuid and outcome <> 'indexed'`,
      [agent.agentId],
    );
    const said = Object.fromEntries(
      rows.map(({ path, outcome, reason }) => [new URL(path).pathname, `${outcome}: ${reason}`]),
    );
    expect(said).toEqual({
      '/drip': 'failed: The server did not answer in time.',
      '/endless': 'failed: The page is larger than 10 MiB.',
      '/circle': 'failed: The server redirects in a circle.',
      '/bomb': 'failed: The page is larger than 10 MiB.',
      '/slow.pdf': expect.stringMatching(/^failed: Reading the file takes too long/),
      '/archive': expect.stringMatching(/^(failed|skipped): /),
    });
  });
});

describe('a hostile site', () => {
  it('cannot lead the crawl out of its path by any spelling', async () => {
    const links = [
      '/docs/..%2fadmin',
      '/docs/%2e%2e/admin',
      '/docs/..%5cadmin',
      '/docs/../admin',
      '//user:pw@127.0.0.1/docs/x',
      `/docs/${'x'.repeat(3_000)}`,
      '/docs/%zz',
      '/documents',
    ];
    misleading.article('/docs/', { title: 'Docs', text: 'Docs.', links });
    const agent = await AgentWebsite.of(service, organization.key);
    await agent.crawl({ rootUrl: misleading.url('/docs') });
    expect(
      misleading.requests
        .filter(({ path }) => path.startsWith('/docs'))
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['/docs/', '/docs/%zz']);
    expect(misleading.requests.some(({ path }) => path.includes('admin'))).toBe(false);
  });

  it('with ten thousand links on a page is crawled up to the budget', async () => {
    const small = await service.organization('--crawl-pages', '20');
    const links = Array.from({ length: 10_000 }, (_none, index) => `/many/${index}`);
    misleading.article('/', { title: 'Home', text: 'Home.', links });
    for (const link of links.slice(0, 30)) misleading.article(link, { title: link, text: link });
    const agent = await AgentWebsite.of(service, small.key);
    expect((await agent.crawl({ rootUrl: misleading.url('/') })).sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      pages: { found: 20, indexed: 20 },
    });
  });

  it('that redirects to itself with ever new queries fails', async () => {
    let number = 0;
    misleading.article('/', { title: 'Home', text: 'Home.', links: ['/loop'] });
    const redirect: SiteListener = (_request, response) => {
      number += 1;
      misleading.page(`/loop?n=${number}`, redirect);
      response.writeHead(302, { location: `/loop?n=${number}` }).end();
    };
    misleading.page('/loop', redirect);
    const agent = await AgentWebsite.of(service, organization.key);
    expect((await agent.crawl({ rootUrl: misleading.url('/') })).sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      pages: { found: 2, indexed: 1, failed: 1 },
    });
    expect(number).toBeLessThan(20);
  });
});
