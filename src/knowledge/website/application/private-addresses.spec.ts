import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ADDRESS_CORPUS } from '../../../../test/support/address-corpus.js';
import { PUBLIC, ScriptedResolver, useEgressBench } from '../../../../test/support/egress-bench.js';
import { FreeLeases, leaseOf } from '../../../../test/support/site-access.js';
import { SystemClock } from '../../../platform/clock/index.js';
import type { SafeHttp } from '../../../platform/egress/index.js';
import { HttpPageFetcher, type PageRequest } from './http-page-fetcher.js';
import { HttpRobots } from './http-robots.js';
import { HttpSitemaps } from './http-sitemaps.js';

const bench = useEgressBench();
const ORIGIN = 'http://site.example';
const never = new AbortController().signal;
const clock = new SystemClock();
const pageRequest = (): PageRequest => ({
  host: leaseOf(clock),
  crawlDelayMs: 0,
  etag: null,
  lastModified: null,
  isWanted: () => true,
  isOtherPage: () => true,
});
const SITE = { host: leaseOf(clock), crawlDelayMs: 0, origin: ORIGIN, isOver: () => false };
const answers = new Map(
  ADDRESS_CORPUS.flatMap(({ host, answers: given }) => (given ? [[host.toLowerCase().replace(/\.$/, ''), given]] : [])),
);

/** One site is public. Every other connection also reaches the canary, which counts it. */
function http(dialled: string[]): SafeHttp {
  const resolver = new ScriptedResolver((name) =>
    name === 'site.example' ? [PUBLIC] : (answers.get(name) ?? ['127.0.0.1']),
  );
  const dial = (address: string): ReturnType<typeof connect> => {
    if (address !== PUBLIC) dialled.push(address);
    return connect({ host: '127.0.0.1', port: bench.canary.port });
  };
  return bench.client({ resolver, dial });
}

const targets = (): string[] => ADDRESS_CORPUS.map(({ host }) => `http://${host}:${bench.canary.port}/secret`);

/** Requests that were not for the site. */
const strays = (): (string | undefined)[] =>
  bench.canary.requests.map(({ headers }) => headers.host).filter((host) => host !== 'site.example');

describe('an address that is not public causes no connection', () => {
  it('in redirects of pages', async () => {
    const dialled: string[] = [];
    const pages = new HttpPageFetcher(http(dialled), clock);
    for (const target of targets()) {
      bench.canary.respond((_request, response) =>
        response.writeHead(302, [['location', Buffer.from(target).toString('latin1')]].flat()).end(),
      );
      const page = await pages.fetch(`${ORIGIN}/`, pageRequest(), never);
      expect([target, ['skipped', 'failed'].includes(page.kind)]).toEqual([target, true]);
    }
    expect([dialled, strays()]).toEqual([[], []]);
  });

  it('as a page', async () => {
    const dialled: string[] = [];
    const pages = new HttpPageFetcher(http(dialled), clock);
    for (const target of targets()) {
      const page = await pages.fetch(target, pageRequest(), never);
      expect([target, page.kind]).toEqual([target, 'failed']);
    }
    expect([dialled, strays()]).toEqual([[], []]);
  });

  it('in redirects of robots.txt files', async () => {
    const dialled: string[] = [];
    for (const target of targets().filter((address) => URL.canParse(address))) {
      bench.canary.respond((_request, response) =>
        response.writeHead(302, [['location', Buffer.from(target).toString('latin1')]].flat()).end(),
      );
      const rules = await new HttpRobots(http(dialled), clock).rulesOf(leaseOf(clock), ORIGIN, never);
      expect([target, rules.crawlDelayMs]).toEqual([target, 0]);
      await bench.closeClients();
    }
    expect([dialled, strays()]).toEqual([[], []]);
  });

  it('as a sitemap in robots.txt, as a sitemap of an index and as a page of a sitemap', async () => {
    const dialled: string[] = [];
    const sitemaps = new HttpSitemaps(http(dialled), new FreeLeases(clock), clock);
    const all = targets();
    for (let start = 0; start < all.length; start += 50) {
      const request = { ...SITE, unread: null, maxUrls: 1_000, isWanted: () => true };
      expect(await sitemaps.pagesOf({ ...request, sitemaps: all.slice(start, start + 50) }, never)).toEqual({
        pages: [],
        unread: null,
        isBusy: false,
      });
    }
    const index = `<sitemapindex>${all.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
    const pages = `<urlset>${all.map((url) => `<url><loc>${url}</loc></url>`).join('')}<url><loc>${ORIGIN}/a</loc></url></urlset>`;
    bench.canary.respond((request, response) => response.end(request.url === '/pages.xml' ? pages : index));
    const named = [`${ORIGIN}/index.xml`, `${ORIGIN}/pages.xml`];
    expect(
      await sitemaps.pagesOf({ ...SITE, sitemaps: named, unread: null, maxUrls: 1_000, isWanted: () => true }, never),
    ).toEqual({ pages: [`${ORIGIN}/a`], unread: null, isBusy: false });
    expect([dialled, strays()]).toEqual([[], []]);
  });
});
