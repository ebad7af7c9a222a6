import { beforeAll, describe, expect, it } from '@jest/globals';
import { useService, type TestOrganization } from '../../support/harness.js';
import { useSite } from '../../support/site-server.js';
import { until } from '../../support/until.js';
import { AgentWebsite } from '../../support/websites.js';

const site = useSite();
const ruled = useSite();
const egressAllow = Object.assign(new Set<string>(), {
  has: (host: string) => site.egressAllow.has(host) || ruled.egressAllow.has(host),
});
const service = useService({ egressAllow });
let organization: TestOrganization;
beforeAll(async () => {
  organization = await service.organization();
});

function website(): Promise<AgentWebsite> {
  return AgentWebsite.of(service, organization.key);
}

/** Addresses of the agent's pages in the index, as paths. */
async function indexed({ agentId }: AgentWebsite): Promise<string[]> {
  const rows = await service.database.query<{ url: string }>(
    'select url from knowledge_documents where agent_id = $1::uuid',
    [agentId],
  );
  return rows.map(({ url }) => new URL(url).pathname).sort();
}

describe('a crawl', () => {
  it('follows links below the root, each page once, and counts them', async () => {
    site.article('/docs/', {
      title: 'Docs',
      text: 'Start here.',
      links: ['/docs/a', 'b', '/docs/a#part', '/elsewhere', 'https://other.example/x', '/docs/dead'],
    });
    site.article('/docs/a', { title: 'A', text: 'About a.', links: ['/docs/', '/docs/b', '/docs/private/x'] });
    site.article('/docs/b', { title: 'B', text: 'About b.', links: ['/docs/a'] });
    const agent = await website();
    const body = await agent.crawl({ rootUrl: site.url('/docs'), excludedUrls: [site.url('/docs/private')] });
    expect(body.sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      pages: { found: 4, indexed: 3, failed: 1, skipped: 0 },
    });
    expect(body.sync.lastError).toBe(`1 page failed, such as ${site.url('/docs/dead')}: The server answered 404.`);
    expect(await indexed(agent)).toEqual(['/docs/', '/docs/a', '/docs/b']);
    expect(body.chunks).toBeGreaterThanOrEqual(3);
    for (const path of ['/docs/', '/docs/a', '/docs/b']) expect(site.count(path)).toBe(1);
    expect(site.requests.filter(({ path }) => path.includes('private') || path === '/elsewhere')).toEqual([]);
  });

  it('adds pages of sitemaps, obeys robots.txt and skips noindex pages, copies and redirects out of the site', async () => {
    ruled.robots(['User-agent: *', 'Disallow: /hidden']);
    ruled.sitemap(['/listed', '/hidden/listed']);
    ruled.article('/', {
      title: 'Home',
      text: 'Home.',
      links: ['/hidden/x', '/copy', '/noindex', '/away', '/moved', '/image'],
    });
    ruled.article('/listed', { title: 'Listed', text: 'Listed.' });
    ruled.page(
      '/copy',
      `<html><head><title>Copy</title><link rel="canonical" href="${ruled.url('/original')}"></head><body><h1>Original</h1><p>The original.</p></body></html>`,
    );
    ruled.article('/original', { title: 'Original', text: 'The original.' });
    ruled.page(
      '/noindex',
      '<html><head><title>N</title><meta name="robots" content="noindex"></head><body>Secret</body></html>',
    );
    ruled.page('/away', { status: 302, headers: { location: 'https://other.example/' } });
    ruled.page('/moved', { status: 301, headers: { location: '/target' } });
    ruled.article('/target', { title: 'Target', text: 'The target.' });
    ruled.page('/image', { type: 'image/png', body: Buffer.from([0x89, 0x50]) });
    const agent = await website();
    const body = await agent.crawl({ rootUrl: ruled.url('/') });
    expect(await indexed(agent)).toEqual(['/', '/listed', '/original', '/target']);
    expect(body.sync).toMatchObject({
      state: 'SUCCESS',
      lastError: null,
      pages: { found: 10, indexed: 4, failed: 0, skipped: 6 },
    });
    expect(ruled.requests.filter(({ path }) => path.startsWith('/hidden'))).toEqual([]);
    expect(ruled.count('/target')).toBe(1);
  });

  it('sends conditional requests the next time, keeps unchanged pages and removes missing ones', async () => {
    site.page('/', {
      etag: '"1"',
      body: '<html><head><title>H</title></head><body>Home <a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a></body></html>',
    });
    site.article('/a', { title: 'A', text: 'First.' });
    site.article('/b', { title: 'B', text: 'Second.' });
    site.article('/c', { title: 'C', text: 'Third.' });
    const agent = await website();
    const first = await agent.crawl({ rootUrl: site.url('/') });
    expect(first.sync.state).toBe('SUCCESS');
    site.remove('/b');
    site.requests.length = 0;
    // Not 500, which is retried for minutes.
    site.page('/c', { status: 403 });
    const second = await agent.crawl({ rootUrl: site.url('/') });
    expect(site.requests.find(({ path }) => path === '/')?.headers['if-none-match']).toBe('"1"');
    expect(second.sync).toMatchObject({ state: 'PARTIAL_SUCCESS', pages: { found: 4, indexed: 2, failed: 2 } });
    expect(await indexed(agent)).toEqual(['/', '/a', '/c']);
  });

  it('fails for an unavailable site and keeps its pages', async () => {
    site.article('/', { title: 'H', text: 'Home.', links: ['/a'] });
    site.article('/a', { title: 'A', text: 'First.' });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    site.page('/', { status: 403 });
    const after = await agent.crawl({ rootUrl: site.url('/') });
    expect(after.sync).toMatchObject({
      state: 'FAILED',
      lastSuccessfulSyncAt: sync.lastSuccessfulSyncAt,
      lastError: `${site.url('/')}: The server answered 403.`,
    });
    expect(await indexed(agent)).toEqual(['/', '/a']);
  });

  it('ends at the page budget on an endless site', async () => {
    const small = await service.organization('--crawl-pages', '12');
    site.page('/', '<html><body>Calendar <a href="/day/0">next</a></body></html>');
    for (let day = 0; day < 40; day += 1)
      site.article(`/day/${day}`, { title: `Day ${day}`, text: `Day ${day}.`, links: [`/day/${day + 1}`] });
    const agent = await AgentWebsite.of(service, small.key);
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({
      state: 'PARTIAL_SUCCESS',
      lastError: 'The crawl ended at its limit of 12 pages; the sites have more.',
      pages: { found: 12, indexed: 12 },
    });
  });

  it('removes the pages of a site that is no longer listed, and all pages with an empty list', async () => {
    site.article('/one/', { title: 'One', text: 'One.' });
    site.article('/two/', { title: 'Two', text: 'Two.' });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/one') }, { rootUrl: site.url('/two') });
    expect(await indexed(agent)).toEqual(['/one/', '/two/']);
    await agent.crawl({ rootUrl: site.url('/two') });
    expect(await indexed(agent)).toEqual(['/two/']);
    const { body } = await agent.put();
    expect(body).toMatchObject({ configs: [], sync: { state: 'SUSPENDED', startedAt: null, pages: { found: 0 } } });
    await until(async () => (await agent.read()).body.chunks === 0, 'the index is empty');
    expect(await indexed(agent)).toEqual([]);
  });

  it('visits just the pages that the operator selects, and follows links again once the root is selected', async () => {
    site.article('/', { title: 'H', text: 'Home.', links: ['/a', '/b'] });
    site.article('/a', { title: 'A', text: 'First.', links: ['/b'] });
    site.article('/b', { title: 'B', text: 'Second.' });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    const selected = await service.cli('website', 'select', agent.agentId, site.origin, site.url('/a'));
    expect(selected).toEqual({
      agentId: agent.agentId,
      rootUrl: site.url('/'),
      selectedUrls: [site.url('/a')],
      state: 'IN_PROGRESS',
    });
    const only = await agent.crawled();
    expect(only).toMatchObject({
      configs: [{ selectedUrls: [site.url('/a')] }],
      sync: { state: 'SUCCESS', pages: { found: 1, indexed: 1 } },
    });
    expect(await indexed(agent)).toEqual(['/a']);
    const kept = await agent.crawl({ rootUrl: site.url('/') });
    expect(kept.configs[0]?.selectedUrls).toEqual([site.url('/a')]);
    await service.cli('website', 'select', agent.agentId, site.url('/'));
    expect((await agent.crawled()).sync.pages.indexed).toBe(3);
    await expect(
      service.cli('website', 'select', agent.agentId, site.url('/'), 'https://other.example/'),
    ).rejects.toThrow('not a page below');
  });
});
