import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EmbeddingQueue } from '../../../src/knowledge/index/application/indexing/embedding-queue.js';
import { type TestOrganization, useService } from '../../support/harness.js';
import { searchKnowledge } from '../../support/knowledge.js';
import { pdfOf } from '../../support/pdf-writer.js';
import { statementsOf } from '../../support/statements.js';
import { until } from '../../support/until.js';
import { useSite } from '../../support/site-server.js';
import { AgentWebsite } from '../../support/websites.js';

const site = useSite();
const service = useService({ egressAllow: site.egressAllow });
let organization: TestOrganization;
beforeAll(async () => {
  organization = await service.organization();
});
afterEach(() => {
  jest.restoreAllMocks();
});

function website(): Promise<AgentWebsite> {
  return AgentWebsite.of(service, organization.key);
}

async function indexed({ agentId }: AgentWebsite): Promise<string[]> {
  const rows = await service.database.query<{ url: string }>(
    'select url from knowledge_documents where agent_id = $1::uuid',
    [agentId],
  );
  return rows.map(({ url }) => new URL(url).pathname).sort();
}

function copyOf(path: string): string {
  return `<html><head><title>Copy</title><link rel="canonical" href="${site.url(path)}"></head><body><h1>Copy</h1><p>A text that is there twice.</p></body></html>`;
}

describe('a page that names another as canonical', () => {
  it('is indexed when the other page fails', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/copy'] });
    site.page('/copy', copyOf('/original'));
    site.page('/original', { status: 403 });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'PARTIAL_SUCCESS', pages: { found: 3, indexed: 2, failed: 1, skipped: 0 } });
    expect(await indexed(agent)).toEqual(['/', '/copy']);
    expect(site.count('/copy')).toBe(1);
  });

  it('is indexed when the other page redirects back to it', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/copy'] });
    site.page('/copy', copyOf('/original'));
    site.page('/original', { status: 301, headers: { location: '/copy' } });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    expect(await indexed(agent)).toEqual(['/', '/copy']);
  });

  it('which names a third one is skipped when the third has the same text', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/first'] });
    site.page('/first', copyOf('/second'));
    site.page('/second', copyOf('/third'));
    site.article('/third', { title: 'Copy', text: 'A text that is there twice.' });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'SUCCESS', pages: { found: 4, indexed: 2, skipped: 2 } });
    expect(site.count('/first')).toBe(1);
  });
});

describe('a repeated crawl', () => {
  it('reads robots.txt again, and removes pages that it now forbids', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/open', '/later'] });
    site.article('/open', { title: 'Open', text: 'Open.' });
    site.article('/later', { title: 'Later', text: 'Forbidden later.' });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    expect(await indexed(agent)).toEqual(['/', '/later', '/open']);
    site.robots(['User-agent: *', 'Disallow: /later']);
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'SUCCESS', pages: { indexed: 2, skipped: 1 } });
    expect(await indexed(agent)).toEqual(['/', '/open']);
    expect(site.count('/later')).toBe(1);
  });

  it('keeps its pages when robots.txt cannot be read', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/a'] });
    site.article('/a', { title: 'A', text: 'About a.' });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    site.page('/robots.txt', { status: 503 });
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'FAILED', lastError: `${site.url('/')}: robots.txt was answered with 503.` });
    expect(await indexed(agent)).toEqual(['/', '/a']);
    expect(site.count('/a')).toBe(1);
  });

  it('requests pages without links to them, and keeps those that still exist', async () => {
    site.article('/', { title: 'Home', text: 'Home.' });
    site.sitemap(['/listed', '/removed']);
    site.article('/listed', { title: 'Listed', text: 'Listed.' });
    site.article('/removed', { title: 'Removed', text: 'Removed.' });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    expect(await indexed(agent)).toEqual(['/', '/listed', '/removed']);
    site.page('/', { status: 302, headers: { location: '/welcome' } });
    site.article('/welcome', { title: 'Welcome', text: 'Welcome.' });
    site.remove('/sitemap.xml');
    site.remove('/removed');
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'PARTIAL_SUCCESS', pages: { found: 4, indexed: 2, failed: 1, skipped: 1 } });
    expect(await indexed(agent)).toEqual(['/listed', '/welcome']);
  });

  it('keeps the last error until it has ended', async () => {
    site.page('/', { status: 403 });
    const agent = await website();
    const failed = await agent.crawl({ rootUrl: site.url('/') });
    const again = await agent.put({ rootUrl: site.url('/') });
    expect(again.body.sync).toMatchObject({ state: 'IN_PROGRESS', lastError: failed.sync.lastError });
    site.article('/', { title: 'Home', text: 'Home.' });
    await agent.crawled();
    expect((await agent.crawl({ rootUrl: site.url('/') })).sync).toMatchObject({ state: 'SUCCESS', lastError: null });
  });
});

describe('nested sites', () => {
  it('assign each page to the inner one, with its exclusions', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/docs/', '/docs/secret', '/shop'] });
    site.article('/shop', { title: 'Shop', text: 'Shop.' });
    site.article('/docs/', { title: 'Docs', text: 'Docs.', links: ['/docs/a', '/docs/secret', '/shop'] });
    site.article('/docs/a', { title: 'A', text: 'About a.' });
    site.article('/docs/secret', { title: 'Secret', text: 'Secret.' });
    const agent = await website();
    const sites = [
      { rootUrl: site.url('/') },
      { rootUrl: site.url('/docs'), excludedUrls: [site.url('/docs/secret')] },
    ];
    expect((await agent.crawl(...sites)).sync).toMatchObject({ state: 'SUCCESS', pages: { found: 4, indexed: 4 } });
    expect(await indexed(agent)).toEqual(['/', '/docs/', '/docs/a', '/shop']);
    await service.cli('website', 'select', agent.agentId, site.url('/docs'), site.url('/docs/a'));
    await agent.crawled();
    expect(await indexed(agent)).toEqual(['/', '/docs/a', '/shop']);
    expect(site.count('/docs/secret')).toBe(0);
  });
});

describe('text that a crawl reads', () => {
  it('is found whatever its encoding or format', async () => {
    const windows1251 = Buffer.from([0xc3, 0xe0, 0xf0, 0xe0, 0xed, 0xf2, 0xe8, 0xff]);
    const shiftJis = Buffer.from([0x95, 0xd4, 0x95, 0x69, 0x95, 0xfb, 0x96, 0x40]);
    const html = (body: Buffer): Buffer =>
      Buffer.concat([
        Buffer.from('<html><head><title>Page</title></head><body><p>'),
        body,
        Buffer.from('</p></body></html>'),
      ]);
    site.article('/', { title: 'Home', text: 'Home.', links: ['/ru', '/ja', '/file.pdf'] });
    site.page('/ru', { type: 'text/html; charset=windows-1251', body: html(windows1251) });
    site.page('/ja', { type: 'text/html; charset=shift_jis', body: html(shiftJis) });
    site.page('/file.pdf', {
      type: 'application/pdf',
      body: pdfOf([[{ text: 'Turbines in the tidal race', y: 700 }]]),
    });
    const agent = await website();
    expect((await agent.crawl({ rootUrl: site.url('/') })).sync).toMatchObject({
      state: 'SUCCESS',
      pages: { indexed: 4 },
    });
    const owner = { key: organization.key, agentId: agent.agentId };
    const first = async (query: string): Promise<string | null | undefined> =>
      (await searchKnowledge(service, owner, query))[0]?.url;
    expect(await first('Гарантия')).toBe(site.url('/ru'));
    expect(await first('返品方法')).toBe(site.url('/ja'));
    expect(await first('turbines')).toBe(site.url('/file.pdf'));
  });

  it('is embedded by one job per step, not one per page', async () => {
    const asked = jest.spyOn(EmbeddingQueue.prototype, 'enqueueAgent');
    const links = Array.from({ length: 12 }, (_none, index) => `/p/${index}`);
    site.article('/', { title: 'Home', text: 'Home.', links });
    for (const link of links) site.article(link, { title: link, text: `This is ${link}.` });
    const agent = await website();
    expect((await agent.crawl({ rootUrl: site.url('/') })).sync.pages.indexed).toBe(13);
    const own = asked.mock.calls.filter(([, , agentId]) => agentId === agent.agentId).length;
    expect(own).toBeGreaterThan(0);
    expect(own).toBeLessThan(13);
  });

  it('costs at most three statements a page, besides those of its document', async () => {
    const links = Array.from({ length: 60 }, (_none, index) => `/p/${index}`);
    site.article('/', { title: 'Home', text: 'Home.', links });
    for (const link of links) site.article(link, { title: link, text: `This is ${link}.` });
    const agent = await website();
    const isOver = async (): Promise<boolean> => {
      const rows = await service.database.query<{ state: string }>(
        'select state as watched from knowledge_websites where agent_id = $1::uuid',
        [agent.agentId],
      );
      return JSON.stringify(rows).includes('SUCCESS');
    };
    const statements = await statementsOf(
      service.database,
      async () => {
        await agent.put({ rootUrl: site.url('/') });
        await until(isOver, 'the crawl ends', { everyMs: 50 });
      },
      /knowledge_website|crawl_hosts/,
    );
    const own = statements.filter((sql) => !sql.includes('as watched'));
    expect((await agent.read()).body.sync.pages).toMatchObject({ found: 61, indexed: 61 });
    expect(own.length / 61).toBeLessThanOrEqual(3);
  });
});
