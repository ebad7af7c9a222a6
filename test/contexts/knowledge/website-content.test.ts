import { beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, useService } from '../../support/harness.js';
import { searchKnowledge } from '../../support/knowledge.js';
import { useSite } from '../../support/site-server.js';
import { AgentWebsite } from '../../support/websites.js';

const site = useSite();
const mirror = useSite();
const egressAllow = Object.assign(new Set<string>(), {
  has: (host: string) => site.egressAllow.has(host) || mirror.egressAllow.has(host),
});
const service = useService({ egressAllow });
let organization: TestOrganization;
beforeAll(async () => {
  organization = await service.organization();
});

function website(): Promise<AgentWebsite> {
  return AgentWebsite.of(service, organization.key);
}

/** Addresses of the agent's pages in the index, as paths with their queries. */
async function indexed({ agentId }: AgentWebsite): Promise<string[]> {
  const rows = await service.database.query<{ url: string }>(
    'select url from knowledge_documents where agent_id = $1::uuid',
    [agentId],
  );
  return rows.map(({ url }) => new URL(url).pathname + new URL(url).search).sort();
}

async function chunks({ agentId }: AgentWebsite): Promise<{ id: string; url: string; text: string }[]> {
  return service.database.query(
    `select c.id::text as id, d.url, c.text from knowledge_chunks c join knowledge_documents d on d.id = c.document_id where d.agent_id = $1::uuid order by c.id`,
    [agentId],
  );
}

async function reason({ agentId }: AgentWebsite, url: string): Promise<string | null | undefined> {
  const [row] = await service.database.query<{ reason: string | null }>(
    'select reason from knowledge_website_pages where agent_id = $1::uuid and url = $2',
    [agentId, url],
  );
  return row?.reason;
}

const SHELL =
  '<!doctype html><html><head><title>App</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>';

describe('a page without text', () => {
  it('fails with a reason', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/app', '/app2'] });
    site.page('/app', SHELL);
    site.page('/app2', SHELL);
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'PARTIAL_SUCCESS', pages: { found: 3, indexed: 1, failed: 2, skipped: 0 } });
    expect(sync.lastError).toMatch(new RegExp(`^2 pages failed, such as ${site.url('/app')}: The page has no text`));
  });

  it('fails the crawl when the site has no other page', async () => {
    site.page('/', SHELL.replace('<div', '<a href="/app"></a><div'));
    site.page('/app', SHELL);
    const agent = await website();
    const { sync, chunks: count } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({
      state: 'FAILED',
      lastSuccessfulSyncAt: null,
      pages: { found: 2, indexed: 0, failed: 2 },
    });
    expect(sync.lastError).toMatch(new RegExp(`^${site.url('/')}: The page has no text.* In total 2 pages failed\\.$`));
    expect(count).toBe(0);
  });
});

describe('a root that redirects to another origin', () => {
  it('fails the crawl, and the error names the address to enter', async () => {
    site.page('/', { status: 301, headers: { location: 'https://www.other.example/start?session=secret' } });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'FAILED', pages: { found: 1, indexed: 0, skipped: 1 } });
    expect(sync.lastError).toContain('https://www.other.example/start');
    expect(sync.lastError).toContain('enter that address');
    expect(sync.lastError).not.toContain('secret');
  });

  it('fails the crawl even when another site was indexed', async () => {
    site.page('/', { status: 301, headers: { location: 'https://www.other.example/' } });
    mirror.article('/', { title: 'Home', text: 'Home.' });
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') }, { rootUrl: mirror.url('/') });
    expect(sync).toMatchObject({ state: 'FAILED', pages: { found: 2, indexed: 1, skipped: 1 } });
    expect(sync.lastError).toContain('https://www.other.example/');
  });
});

describe('the same text', () => {
  const article = { title: 'Prices', text: 'A bicycle costs 400 euros.' };

  it('is indexed once, under the address with the lowest depth, then the shortest, whichever is visited first', async () => {
    site.article('/', {
      title: 'Home',
      text: 'Home.',
      links: ['/prices?utm_source=news', '/prices/index.html', '/prices', '/index.html'],
    });
    site.article('/index.html', {
      title: 'Home',
      text: 'Home.',
      links: ['/prices?utm_source=news', '/prices/index.html', '/prices', '/index.html'],
    });
    for (const path of ['/prices', '/prices?utm_source=news', '/prices/index.html']) site.article(path, article);
    const agent = await website();
    for (const _crawl of [1, 2]) {
      const { sync } = await agent.crawl({ rootUrl: site.url('/') });
      expect(sync).toMatchObject({
        state: 'SUCCESS',
        lastError: null,
        pages: { found: 5, indexed: 2, failed: 0, skipped: 3 },
      });
      expect(await indexed(agent)).toEqual(['/', '/prices']);
    }
    expect(await reason(agent, site.url('/prices?utm_source=news'))).toBe(
      `It has the same text as ${site.url('/prices')}.`,
    );
  });

  it('on a mirror is indexed once', async () => {
    for (const host of [site, mirror]) host.article('/', article);
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') }, { rootUrl: mirror.url('/') });
    expect(sync.pages).toMatchObject({ found: 2, indexed: 1, skipped: 1 });
  });

  it('stays in the index when the page that was kept is missing or has another text', async () => {
    site.article('/', { title: 'Home', text: 'Home.', links: ['/a', '/a/index.html', '/b', '/b/index.html'] });
    for (const path of ['/a', '/a/index.html']) site.article(path, article);
    for (const path of ['/b', '/b/index.html'])
      site.page(path, { body: '<html><body><p>It is open on Mondays.</p></body></html>', etag: '"1"' });
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    expect(await indexed(agent)).toEqual(['/', '/a', '/b']);
    site.remove('/a');
    site.page('/b', { body: '<html><body><p>It is open on Tuesdays.</p></body></html>', etag: '"2"' });
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync.pages).toEqual({ found: 5, indexed: 4, failed: 1, skipped: 0 });
    expect(await indexed(agent)).toEqual(['/', '/a/index.html', '/b', '/b/index.html']);
  });
});

describe('a canonical address', () => {
  it('that every page has by mistake excludes none of them, and their reasons name it', async () => {
    const links = Array.from({ length: 8 }, (_none, number) => `/p/${number}`);
    const page = (text: string): string =>
      `<html><head><title>T</title><link rel="canonical" href="${site.url('/')}"></head><body><main><p>${text}</p>${links.map((link) => `<a href="${link}">x</a>`).join('')}</main></body></html>`;
    site.page('/', page('This is the start.'));
    for (const link of links) site.page(link, page(`This is ${link}.`));
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'SUCCESS', pages: { found: 9, indexed: 9, skipped: 0 } });
    expect(await reason(agent, site.url('/p/3'))).toBe(
      `It names ${site.url('/')} as its canonical address, which has another text or could not be indexed.`,
    );
  });

  it('decides which of the pages with the same text is kept, whatever their depth', async () => {
    const body = '<body><h1>Shoes</h1><p>All shoes that there are.</p></body>';
    site.article('/', { title: 'Home', text: 'Home.', links: ['/s'] });
    site.page(
      '/s',
      `<html><head><link rel="canonical" href="${site.url('/catalogue/shoes.html')}"></head>${body}</html>`,
    );
    site.page('/catalogue/shoes.html', `<html><head></head>${body}</html>`);
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'SUCCESS', pages: { found: 3, indexed: 2, skipped: 1 } });
    expect(await indexed(agent)).toEqual(['/', '/catalogue/shoes.html']);
  });
});

describe('a passage', () => {
  const terms = ['Basket', 'Dynamo', 'Fender'];
  const price = (page: number, at: number): number => 100 * page + at;
  const listOf = (page: number): string =>
    terms
      .map(
        (term, at) =>
          `<dt>${term} ${page}</dt><dd>It costs ${price(page, at)} euros, and is fitted within the hour.</dd>`,
      )
      .join('');
  const document = (page: number): string =>
    `<html><head><title>Shop ${page}</title></head><body><main><h1>Shop ${page}</h1><p>${'We are open on all days of the week. '.repeat(40)}</p>
     <h2 id="parts">Parts ${page}</h2><dl>${listOf(page)}</dl>${page === 0 ? [1, 2, 3, 4, 5, 6].map((other) => `<a href="/${other}">${other}</a>`).join(' ') : ''}</main></body></html>`;

  it("has its page's title, headings, terms and nearest anchor, on each page of a site", async () => {
    for (let page = 0; page < 7; page += 1) site.page(page === 0 ? '/' : `/${page}`, document(page));
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'SUCCESS', pages: { indexed: 7 } });
    for (let page = 0; page < 7; page += 1) {
      const [found] = await searchKnowledge(
        service,
        { agentId: agent.agentId, key: organization.key },
        `Dynamo ${page} costs ${price(page, 1)}`,
      );
      expect(found).toMatchObject({
        title: `Shop ${page}`,
        headings: [`Shop ${page}`, `Parts ${page}`],
        url: `${site.url(page === 0 ? '/' : `/${page}`)}#parts`,
      });
      expect(found?.text).toContain(`Dynamo ${page}\n\nIt costs ${price(page, 1)} euros`);
    }
  });

  it('has the nearest anchor above it, and no anchor before the first one of its page', async () => {
    /** Enough for a chunk of its own. */
    const section = (heading: string, sentence: string): string =>
      `${heading}<p>${sentence} ${'All of it was looked at with care and found to be in good order. '.repeat(12)}</p>`;
    const sections = [
      section('<h2>Frames</h2>', 'The frames are made of steel.'),
      section('<h2 id="brakes">Brakes</h2>', 'They are adjusted each spring.'),
      section('<h3>Discs</h3>', 'These last for two winters.'),
      section('<h2><a name="tyres"></a>Tyres</h2>', 'Fill them to five bar.'),
    ];
    site.page('/', `<html><head><title>The book</title></head><body><main>${sections.join('')}</main></body></html>`);
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    const best = async (query: string): Promise<object | undefined> =>
      (await searchKnowledge(service, { agentId: agent.agentId, key: organization.key }, query))[0];
    expect(await best('frames steel')).toMatchObject({ url: site.url('/'), title: 'The book', headings: ['Frames'] });
    expect(await best('adjusted spring')).toMatchObject({
      url: site.url('/#brakes'),
      title: 'The book',
      headings: ['Brakes'],
    });
    expect(await best('two winters')).toMatchObject({
      url: site.url('/#brakes'),
      title: 'The book',
      headings: ['Brakes', 'Discs'],
    });
    expect(await best('five bar')).toMatchObject({ url: site.url('/#tyres'), title: 'The book', headings: ['Tyres'] });
  });
});

describe('a block that is on most pages of a site', () => {
  const links = Array.from({ length: 14 }, (_none, number) => `/p/${number}`);
  const template = (text: string, banner: string): string =>
    `<html><head><title>T</title></head><body><div>${banner}</div><p>${text}</p><div>Call us any day, we are glad to help you with bicycles.</div>
     <p>${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}</p></body></html>`;
  const serve = (banner: string): void => {
    site.page('/', template('The workshop is in the harbour.', banner));
    for (const [number, link] of links.entries())
      site.page(link, {
        body: template(
          `Repair number ${number} takes ${number + 1} days.${number < 3 ? '</p><p>Ask for an offer.' : ''}`,
          banner,
        ),
        etag: `"${banner}"`,
      });
  };

  it('is in no chunk, not even of the first pages; a block on few pages is, and each page is fetched once', async () => {
    serve('Winter sale until Friday.');
    const agent = await website();
    const { sync } = await agent.crawl({ rootUrl: site.url('/') });
    expect(sync).toMatchObject({ state: 'SUCCESS', pages: { found: 15, indexed: 15 } });
    const texts = (await chunks(agent)).map(({ text }) => text).join('\n');
    expect(texts).not.toMatch(/Winter sale|Call us any day/);
    expect(texts).toContain('The workshop is in the harbour.');
    for (const number of links.keys()) expect(texts).toContain(`Repair number ${number} takes`);
    expect(texts.match(/Ask for an offer/g)).toHaveLength(3);
    for (const link of links) expect(site.count(link)).toBe(1);
  });

  it('is the same in the next crawl, so that unchanged pages keep their chunks; a new banner is detected', async () => {
    serve('Winter sale until Friday.');
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    const before = await chunks(agent);
    await agent.crawl({ rootUrl: site.url('/') });
    expect(await chunks(agent)).toEqual(before);
    serve('Spring is here.');
    await agent.crawl({ rootUrl: site.url('/') });
    expect((await chunks(agent)).map(({ text }) => text).join('\n')).not.toMatch(/sale|Spring|Call us/);
  });

  it('is kept on a site of few pages', async () => {
    site.page('/', '<html><body><p>Call us any day.</p><p>One.</p><a href="/a">a</a></body></html>');
    site.page('/a', '<html><body><p>Call us any day.</p><p>Two.</p></body></html>');
    const agent = await website();
    await agent.crawl({ rootUrl: site.url('/') });
    expect((await chunks(agent)).filter(({ text }) => text.includes('Call us any day'))).toHaveLength(2);
  });
});
