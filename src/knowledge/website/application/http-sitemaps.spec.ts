import { setImmediate as nextTask } from 'node:timers/promises';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { useEgressBench } from '../../../../test/support/egress-bench.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { FreeLeases, leaseOf } from '../../../../test/support/site-access.js';
import { until } from '../../../../test/support/until.js';
import { type Clock, SystemClock } from '../../../platform/clock/index.js';
import type { UnreadSitemaps } from '../domain/unread-sitemaps.js';
import { HttpSitemaps, type ListedPages, type SitemapRequest } from './http-sitemaps.js';

const bench = useEgressBench();
const ORIGIN = 'http://a.example';
const never = new AbortController().signal;

type Files = Readonly<Record<string, string | Buffer>>;

function serve(files: Files, headers: Record<string, string> = {}): void {
  bench.canary.respond((request, response) => {
    const body = files[request.url ?? ''];
    if (body === undefined)
      response.writeHead(404).end('<urlset><url><loc>http://a.example/error</loc></url></urlset>');
    else response.writeHead(200, headers).end(body);
  });
}

interface Circumstances {
  readonly clock?: Clock;
  readonly leases?: FreeLeases;
}

function listed(
  request: Partial<SitemapRequest> = {},
  { clock = new SystemClock(), leases = new FreeLeases(clock) }: Circumstances = {},
): Promise<ListedPages> {
  const site = {
    host: leaseOf(clock),
    origin: ORIGIN,
    crawlDelayMs: 0,
    sitemaps: [],
    unread: null,
    maxUrls: 1_000,
    isWanted: () => true,
    isOver: () => false,
  };
  return new HttpSitemaps(bench.named({ clock }), leases, clock).pagesOf({ ...site, ...request }, never);
}

/** Reads like a worker whose host asks for a pause after each request. */
const paced = (clock: Clock): Partial<SitemapRequest> => {
  const host = leaseOf(clock);
  return { host, crawlDelayMs: 2_000, isOver: () => host.pauseMs > 0 };
};

async function pagesOf(...given: Parameters<typeof listed>): Promise<readonly string[]> {
  const { pages, unread } = await listed(...given);
  expect(unread).toBeNull();
  return pages;
}

const urlset = (...paths: string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${paths.map((path) => `<url><loc>${ORIGIN}${path}</loc><lastmod>2026-01-01</lastmod></url>`).join('\n')}\n</urlset>`;
const index = (...urls: string[]): string =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
const urls = (...paths: string[]): string[] => paths.map((path) => `${ORIGIN}${path}`);

describe('the pages of a sitemap', () => {
  it('are returned in order, each once, from /sitemap.xml where robots.txt names none', async () => {
    serve({ '/sitemap.xml': urlset('/b', '/a', '/b', '/c#part', '/c') });
    const clock = new ManualClock();
    const host = leaseOf(clock);
    expect(await pagesOf({ host, crawlDelayMs: 2_000 })).toEqual(urls('/b', '/a', '/c'));
    expect(host.pauseMs).toBe(2_000);
  });

  it('are those that are wanted and on the site itself, up to the limit', async () => {
    const foreign =
      '<url><loc>http://b.example/x</loc></url><url><loc>https://a.example/x</loc></url><url><loc>/relative</loc></url><url><loc>http://[</loc></url>';
    serve({ '/sitemap.xml': `<urlset>${foreign}${urlset('/a', '/no', '/b', '/c').replace(/<\?.*?\?>/, '')}</urlset>` });
    const isWanted = ({ pathname }: URL): boolean => pathname !== '/no';
    expect(await pagesOf({ isWanted })).toEqual(urls('/a', '/b', '/c'));
    expect(await pagesOf({ isWanted, maxUrls: 2 })).toEqual(urls('/a', '/b'));
  });

  it('of other files are left for later when the host asks for a pause; the refused file is left out', async () => {
    const asked: string[] = [];
    bench.canary.respond((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/1.xml') response.end(urlset('/a'));
      else response.writeHead(429, { 'retry-after': '60' }).end();
    });
    const clock = new ManualClock();
    const host = leaseOf(clock);
    const request = { host, sitemaps: urls('/1.xml', '/2.xml', '/3.xml'), isOver: () => host.pauseMs > 0 };
    const { pages, unread } = await listed(request);
    expect(pages).toEqual(urls('/a'));
    expect(asked).toEqual(['/1.xml', '/2.xml']);
    expect(host.pauseMs).toBe(60_000);
    expect(await listed({ ...request, unread })).toEqual({ pages: [], unread: null, isBusy: false });
    expect(asked).toEqual(['/1.xml', '/2.xml', '/3.xml']);
  });

  it('are not those of images and videos', async () => {
    serve({
      '/sitemap.xml': `<urlset xmlns:image="i"><url><loc>${ORIGIN}/a</loc><image:image><image:loc>${ORIGIN}/a.png</image:loc></image:image></url><loc>${ORIGIN}/stray</loc></urlset>`,
    });
    expect(await pagesOf()).toEqual(urls('/a'));
  });

  it.each<[what: string, body: string | Buffer]>([
    ['with a prefix for its names', `<s:urlset xmlns:s="x"><s:url><s:loc>${ORIGIN}/a</s:loc></s:url></s:urlset>`],
    ['with CDATA and entities', `<urlset><url><loc> <![CDATA[${ORIGIN}/]]>&#97; </loc></url></urlset>`],
    ['with a mark and lines before it', `\ufeff\n\n${urlset('/a')}`],
    ['in UTF-16', Buffer.from(`\ufeff${urlset('/a')}`, 'utf16le')],
    ['compressed', gzipSync(urlset('/a'))],
    ['as a text', `${ORIGIN}/a\r\n`],
    ['as a compressed text', gzipSync(`\n${ORIGIN}/a`)],
    ['cut off', urlset('/a', '/b').slice(0, -70)],
    ['compressed and cut off', gzipSync(urlset('/a')).subarray(0, -6)],
    ['without the closing tag of a location', `<urlset><url><loc>${ORIGIN}/a</url></urlset>`],
    ['with what is no XML after it', `<urlset><url><loc>${ORIGIN}/a</loc></url>${'<'.repeat(5_000)}`],
  ])('are read %s', async (_what, body) => {
    serve({ '/sitemap.xml': body });
    expect(await pagesOf()).toEqual(urls('/a'));
  });

  it('are read through a content encoding', async () => {
    serve(
      { '/s.xml.gz': gzipSync(gzipSync(urlset('/a'))) },
      { 'content-encoding': 'gzip', 'content-type': 'application/gzip' },
    );
    expect(await pagesOf({ sitemaps: [`${ORIGIN}/s.xml.gz`] })).toEqual(urls('/a'));
  });

  it('may have an unescaped ampersand', async () => {
    serve({
      '/sitemap.xml': `<urlset><url><loc>${ORIGIN}/a?b=1&c=2</loc></url><url><loc>${ORIGIN}/a?b=1&amp;c=3</loc></url></urlset>`,
    });
    expect(await pagesOf()).toEqual(urls('/a?b=1&c=2', '/a?b=1&c=3'));
  });

  it('are found after a part of the file that cannot be read', async () => {
    bench.canary.respond((request, response) => {
      if (request.url === '/2.xml')
        response.writeHead(200, { 'content-length': '10000' }).write(urlset('/b'), () => response.destroy());
      else if (request.url === '/4.xml') response.end(urlset('/d'));
      else response.writeHead(500).end();
    });
    const sitemaps = [1, 2, 3, 4].map((number) => `${ORIGIN}/${number}.xml`);
    expect(await pagesOf({ sitemaps })).toEqual(urls('/b', '/d'));
  });
});

describe('an index of sitemaps', () => {
  it('is followed three deep, each file once', async () => {
    serve({
      '/sitemap.xml': index(`${ORIGIN}/1.xml`, `${ORIGIN}/sitemap.xml`),
      '/1.xml': index(`${ORIGIN}/2.xml`, `${ORIGIN}/1.xml`),
      '/2.xml': index(`${ORIGIN}/3.xml`),
      '/3.xml': `<urlset>${index(`${ORIGIN}/4.xml`)}<url><loc>${ORIGIN}/a</loc></url></urlset>`,
      '/4.xml': urlset('/too-deep'),
    });
    const before = bench.canary.requests.length;
    expect(await pagesOf()).toEqual(urls('/a'));
    expect(bench.canary.requests.slice(before).map(({ url }) => url)).toEqual([
      '/sitemap.xml',
      '/1.xml',
      '/2.xml',
      '/3.xml',
    ]);
  });

  it('is followed to 50 files', async () => {
    const files = Array.from({ length: 200 }, (_, number) => `/${number}.xml`);
    serve({ '/sitemap.xml': index(...files.map((file) => `${ORIGIN}${file}`)) });
    const before = bench.canary.requests.length;
    await pagesOf();
    expect(bench.canary.requests).toHaveLength(before + 50);
  });

  it('is not followed to addresses that are longer than those of the protocol', async () => {
    const [fits, long] = [2_048, 2_049].map((length) => `${ORIGIN}/`.padEnd(length - 4, 'a').concat('.xml'));
    serve({
      '/sitemap.xml': index(long ?? '', fits ?? ''),
      [(long ?? '').slice(ORIGIN.length)]: urlset('/long'),
      [(fits ?? '').slice(ORIGIN.length)]: urlset('/fits'),
    });
    expect(await pagesOf()).toEqual(urls('/fits'));
  });

  it('is not followed to other hosts, unlike robots.txt', async () => {
    serve({
      '/sitemap.xml': index('http://b.example/s.xml', `${ORIGIN}/1.xml`),
      '/1.xml': urlset('/a'),
      '/s.xml': urlset('/b'),
    });
    expect(await pagesOf()).toEqual(urls('/a'));
    expect(await pagesOf({ sitemaps: ['http://b.example/s.xml'] })).toEqual(urls('/b'));
  });
});

describe('the sitemaps of a host with a crawl delay', () => {
  it('are read one per slice, each once', async () => {
    serve({
      '/sitemap.xml': index(`${ORIGIN}/1.xml`, 'http://b.example/foreign.xml', `${ORIGIN}/2.xml`),
      '/1.xml': urlset('/a', '/b'),
      '/2.xml': `<urlset>${index(`${ORIGIN}/1.xml`, `${ORIGIN}/3.xml`)}<url><loc>${ORIGIN}/c</loc></url></urlset>`,
      '/3.xml': urlset('/d'),
    });
    const before = bench.canary.requests.length;
    const turns: (readonly string[])[] = [];
    let unread: UnreadSitemaps | null = null;
    do {
      const { pages, unread: left } = await listed({ ...paced(new ManualClock()), unread });
      turns.push(pages);
      unread = left && (JSON.parse(JSON.stringify(left)) as UnreadSitemaps);
    } while (unread);
    expect(turns).toEqual([[], urls('/a', '/b'), urls('/c'), urls('/d')]);
    expect(bench.canary.requests.slice(before).map(({ url }) => url)).toEqual([
      '/sitemap.xml',
      '/1.xml',
      '/2.xml',
      '/3.xml',
    ]);
  });

  it('are at most 50 files, however many slices they take', async () => {
    const next = (request: { url?: string }): number => Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0) + 1;
    bench.canary.respond((request, response) =>
      response.end(
        urlset(`/of${request.url ?? ''}`).replace(
          '<urlset',
          `<urlset>${index(`${ORIGIN}/${next(request)}.xml`)}</urlset><urlset`,
        ),
      ),
    );
    const before = bench.canary.requests.length;
    const sitemaps = Array.from({ length: 60 }, (_, number) => `${ORIGIN}/${number * 10}.xml`);
    for (let unread: UnreadSitemaps | null = null, turns = 0; turns === 0 || unread; turns += 1) {
      ({ unread } = await listed({ ...paced(new ManualClock()), unread, sitemaps }));
    }
    expect(bench.canary.requests).toHaveLength(before + 50);
  });
});

describe('a sitemap on another host', () => {
  const sitemaps = ['http://b.example/s.xml', `${ORIGIN}/own.xml`];

  it('is read with the lease of that host', async () => {
    serve({ '/s.xml': urlset('/b'), '/own.xml': urlset('/a') });
    const leases = new FreeLeases(new ManualClock());
    expect(await pagesOf({ sitemaps }, { leases })).toEqual(urls('/b', '/a'));
    expect(leases.taken).toEqual(['b.example:80']);
  });

  it('waits while another process has that host, does not delay other files, and is left out in the end', async () => {
    serve({ '/own.xml': urlset('/a') });
    const leases = new FreeLeases(new ManualClock(), ['b.example:80']);
    const first = await listed({ sitemaps }, { leases });
    expect(first).toMatchObject({ pages: urls('/a'), isBusy: true });
    let { unread } = first;
    let tries = 1;
    for (; unread; tries += 1) ({ unread } = await listed({ sitemaps, unread }, { leases }));
    expect(tries).toBe(61);
  });
});

describe('a hostile sitemap', () => {
  const hostile = (): Record<string, string | Buffer> => ({
    'a reference to a file': `<!DOCTYPE urlset [<!ENTITY f SYSTEM "file:///etc/hostname">]><urlset><url><loc>${ORIGIN}/&f;</loc></url></urlset>`,
    'entities of entities': `<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><urlset><url><loc>${ORIGIN}/&b;</loc></url></urlset>`,
    'a reference to a declaration': `<!DOCTYPE urlset SYSTEM "http://b.example/x.dtd"><urlset></urlset>`,
    'elements in elements': `<urlset>${'<url>'.repeat(500_000)}`,
    'attributes without end': `<urlset ${Array.from({ length: 200_000 }, (_, number) => `a${number}="b"`).join(' ')}`,
    'mistakes without end': `<urlset>${'&;'.repeat(500_000)}`,
    'a location without end': `<urlset><url><loc>${ORIGIN}/${'a'.repeat(2_000_000)}</loc></url></urlset>`,
    'a text without lines': 'x'.repeat(5_000_000),
    'a name without end': `<${'a'.repeat(5_000_000)}`,
  });

  it.each(Object.keys(hostile()))('of %s connects to nothing else and ends', async (what) => {
    serve({ '/sitemap.xml': hostile()[what] ?? '' });
    const before = bench.canary.requests.length;
    const found = await pagesOf();
    expect(found.filter((url) => !/\/&[fb];$/.test(url))).toEqual([]);
    expect(bench.canary.requests).toHaveLength(before + 1);
  });

  const zeros = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  it.each<[what: string, headers: Record<string, string>]>([
    ['as a file', {}],
    ['on the way', { 'content-encoding': 'gzip' }],
  ])('of 10 GB of zeros compressed %s ends', async (_what, headers) => {
    const flood: RequestListener = (_request, response) => {
      response.writeHead(200, headers);
      for (let part = 0; part < 640; part += 1) response.write(zeros);
      response.end();
    };
    bench.canary.respond(flood);
    expect(await pagesOf()).toEqual([]);
  });

  it('of 10 GB of compressed empty lines ends at its limit', async () => {
    const lines = gzipSync(Buffer.alloc(16 * 1024 * 1024, '\n'));
    bench.canary.respond((_request, response) =>
      response.end(Buffer.concat([gzipSync(`${ORIGIN}/a\n`), lines, gzipSync(`\n${ORIGIN}/b\n`)])),
    );
    expect(await pagesOf()).toEqual(urls('/a'));
  });

  it('that never ends is stopped, and the entries before count', async () => {
    const clock = new ManualClock();
    bench.canary.respond(
      (_request, response) => void response.writeHead(200).write(`${urlset('/a').slice(0, -10)}${' '.repeat(20_000)}`),
    );
    const before = bench.canary.requests.length;
    let found: readonly string[] | undefined;
    const sitemaps = Array.from({ length: 20 }, (_, number) => `${ORIGIN}/${number}.xml`);
    void pagesOf({ sitemaps }, { clock }).then((pages) => (found = pages));
    await until(() => bench.canary.requests.length > before, 'the request');
    await until(async () => {
      await clock.advance(1_000);
      return found !== undefined;
    }, 'the sitemaps to time out');
    expect(clock.monotonic()).toBeLessThanOrEqual(130_000);
    expect(bench.canary.requests.length - before).toBeLessThanOrEqual(6);
  });
});

it('50,000 pages are read without blocking the event loop', async () => {
  serve({ '/sitemap.xml': urlset(...Array.from({ length: 50_000 }, (_, number) => `/page-${number}`)) });
  let turns = 0;
  const reading = new AbortController();
  const others = (async () => {
    for (; !reading.signal.aborted; turns += 1) await nextTask();
  })();
  const pages = await pagesOf({ maxUrls: 50_000 });
  reading.abort();
  await others;
  expect(pages).toHaveLength(50_000);
  expect(turns).toBeGreaterThan(10);
});

it('an aborted reading ends with the reason of the signal', async () => {
  bench.canary.respond(() => undefined);
  const giveUp = new AbortController();
  const clock = new SystemClock();
  const sitemaps = new HttpSitemaps(bench.named(), new FreeLeases(clock), clock);
  const before = bench.canary.requests.length;
  const pages = sitemaps
    .pagesOf(
      {
        host: leaseOf(clock),
        crawlDelayMs: 0,
        origin: ORIGIN,
        sitemaps: [],
        unread: null,
        maxUrls: 10,
        isWanted: () => true,
        isOver: () => false,
      },
      giveUp.signal,
    )
    .catch((error: unknown) => error);
  await until(() => bench.canary.requests.length > before, 'the request');
  const reason = new Error('superseded');
  giveUp.abort(reason);
  expect(await pages).toBe(reason);
});
