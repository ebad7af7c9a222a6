import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { PUBLIC, ScriptedResolver, useEgressBench } from '../../../../test/support/egress-bench.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { leaseOf } from '../../../../test/support/site-access.js';
import { until } from '../../../../test/support/until.js';
import type { SafeHttp } from '../../../platform/egress/index.js';
import { HttpRobots, type RobotsRules } from './http-robots.js';

const bench = useEgressBench();
const never = new AbortController().signal;

class KnownRobots extends HttpRobots {
  constructor({ clock = new ManualClock(), http = bench.named() }: { clock?: ManualClock; http?: SafeHttp } = {}) {
    super(http, clock);
    this.host = leaseOf(clock);
  }
  readonly host;

  at(origin = 'http://a.example', signal = never): Promise<RobotsRules> {
    return this.rulesOf(this.host, origin, signal);
  }
}

const robots = (given: { clock?: ManualClock; http?: SafeHttp } = {}): KnownRobots => new KnownRobots(given);
const rulesAt = (origin = 'http://a.example'): Promise<RobotsRules> => robots().at(origin);
const allows = async (path: string, rules = rulesAt()): Promise<boolean> =>
  (await rules).allows(new URL(path, 'http://a.example'));
const answer = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): void =>
  bench.canary.respond((_request, response) => response.writeHead(status, headers).end(body));
const FORBIDDING = 'User-agent: *\nDisallow: /\n';

describe('a robots.txt file', () => {
  it('is requested at the root of its origin', async () => {
    answer(200, 'User-agent: agent-service\nDisallow: /private\nCrawl-delay: 2\nSitemap: http://a.example/s.xml');
    const rules = await rulesAt();
    expect(['/private/x', '/public'].map((path) => rules.allows(new URL(path, 'http://a.example')))).toEqual([
      false,
      true,
    ]);
    expect(rules).toMatchObject({ crawlDelayMs: 2_000, sitemaps: ['http://a.example/s.xml'], closed: null });
    expect(bench.canary.requests.at(-1)).toMatchObject({
      url: '/robots.txt',
      headers: { host: 'a.example', 'user-agent': 'agent-service/1.0' },
    });
  });

  it.each([400, 401, 403, 404, 410, 451])('that is answered with %i allows everything', async (status) => {
    answer(status, FORBIDDING);
    expect(await rulesAt()).toMatchObject({ closed: null, crawlDelayMs: 0 });
    expect(await allows('/page')).toBe(true);
  });

  it.each([429, 500, 503, 599])('that is answered with %i closes the site', async (status) => {
    answer(status);
    const rules = await rulesAt();
    expect(rules.closed).toBe(`robots.txt was answered with ${status}.`);
    expect(rules.allows(new URL('http://a.example/'))).toBe(false);
  });

  it.each([
    [429, {}, 2_000],
    [429, { 'retry-after': '7' }, 7_000],
    [503, { 'retry-after': '7' }, 7_000],
    [503, {}, 0],
    [500, { 'retry-after': '7' }, 0],
  ])('that is answered with %i and %j has the host left alone for %i ms', async (status, headers, ms) => {
    answer(status, '', headers);
    const known = robots();
    await known.at();
    expect(known.host.pauseMs).toBe(ms);
  });

  it.each<[what: string, listener: RequestListener]>([
    [
      'breaks off',
      (_request, response) =>
        response.writeHead(200, { 'content-length': '100' }).write(FORBIDDING, () => response.destroy()),
    ],
    ['is no HTTP', (request) => request.socket.end('nonsense\r\n')],
    [
      'is not compressed as declared',
      (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    ],
  ])('that %s closes the site', async (_what, listener) => {
    bench.canary.respond(listener);
    expect((await rulesAt()).closed).toBe('robots.txt could not be read.');
  });

  it('that is not answered in time closes the site', async () => {
    bench.canary.respond(() => undefined);
    const clock = new ManualClock();
    const before = bench.canary.requests.length;
    const rules = robots({ clock, http: bench.named({ clock }) }).at('http://a.example', never);
    await until(() => bench.canary.requests.length > before, 'the request');
    await clock.advance(20_000);
    expect((await rules).closed).toBe('The server did not send robots.txt in time.');
  });

  it('may be behind five redirects; beyond that it counts as missing', async () => {
    const chain = (length: number): void =>
      bench.canary.respond((request, response) => {
        const step = Number(/\d+$/.exec(request.url ?? '')?.[0] ?? 0);
        if (step < length) response.writeHead(302, { location: `http://host${step}.example/step${step + 1}` }).end();
        else response.end(FORBIDDING);
      });
    chain(5);
    expect(await allows('/page')).toBe(false);
    chain(6);
    expect(await allows('/page')).toBe(true);
    expect((await rulesAt()).closed).toBeNull();
  });

  it('is read up to 500 KiB, without a line that is cut off', async () => {
    const line = 'Disallow: /private-0000000\n';
    const lines = 'User-agent: *\n' + line.repeat(Math.floor((500 * 1024) / line.length) - 1);
    const cut = 'x'.repeat(500 * 1024 - lines.length - 'Disallow: /'.length - 1);
    answer(200, `${lines}${cut}\nDisallow: /page\nDisallow: /last\n${'#'.repeat(2_000_000)}`);
    const rules = rulesAt();
    expect(await Promise.all(['/private-0000000', '/page', '/last'].map((path) => allows(path, rules)))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('of 10 GB of compressed zeros has no rules, and takes no memory', async () => {
    const zeros = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    bench.canary.respond((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      for (let part = 0; part < 640; part += 1) response.write(zeros);
      response.end();
    });
    expect(await allows('/page')).toBe(true);
  });
});

describe('the cached rules of an origin', () => {
  it('are requested once for concurrent callers, and again after some minutes', async () => {
    answer(200, 'User-agent: *\nDisallow: /private');
    const clock = new ManualClock();
    const known = robots({ clock });
    const before = bench.canary.requests.length;
    const asked = await Promise.all(Array.from({ length: 50 }, () => known.at('http://a.example', never)));
    expect(new Set(asked).size).toBe(1);
    await clock.advance(299_000);
    await known.at('http://a.example', never);
    expect(bench.canary.requests).toHaveLength(before + 1);
    await known.at('http://b.example', never);
    expect(bench.canary.requests).toHaveLength(before + 2);
    await clock.advance(1_000);
    await known.at('http://a.example', never);
    expect(bench.canary.requests).toHaveLength(before + 3);
  });

  it('are requested again sooner where the site was closed', async () => {
    answer(503);
    const clock = new ManualClock();
    const known = robots({ clock });
    const rules = (): Promise<RobotsRules> => known.at('http://a.example', never);
    const before = bench.canary.requests.length;
    await rules();
    await clock.advance(29_000);
    expect((await rules()).closed).not.toBeNull();
    expect(bench.canary.requests).toHaveLength(before + 1);
    answer(404);
    await clock.advance(1_000);
    const again = await Promise.all([rules(), rules(), rules()]);
    expect(again.map(({ closed }) => closed)).toEqual([null, null, null]);
    expect(bench.canary.requests).toHaveLength(before + 2);
  });

  it('are requested again after the pause that the site asked for', async () => {
    answer(429, '', { 'retry-after': '7' });
    const clock = new ManualClock();
    const known = robots({ clock });
    const closed = async (): Promise<boolean> => (await known.at('http://a.example', never)).closed !== null;
    expect(await closed()).toBe(true);
    answer(404);
    await clock.advance(6_000);
    expect(await closed()).toBe(true);
    await clock.advance(1_000);
    expect(await closed()).toBe(false);
  });

  it('are still loaded for the others when one caller aborts', async () => {
    let release: () => void = () => undefined;
    bench.canary.respond((_request, response) => (release = () => response.end('')));
    const known = robots();
    const giveUp = new AbortController();
    const before = bench.canary.requests.length;
    const first = known.at('http://a.example', giveUp.signal).catch((error: unknown) => error);
    const second = known.at('http://a.example', never);
    await until(() => bench.canary.requests.length > before, 'the request');
    const reason = new Error('no longer needed');
    giveUp.abort(reason);
    expect(await first).toBe(reason);
    release();
    expect((await second).closed).toBeNull();
    expect(bench.canary.requests).toHaveLength(before + 1);
  });
});

it('a site whose host is not public is closed', async () => {
  const http = bench.client({
    resolver: new ScriptedResolver((name) => (name === 'a.example' ? ['10.0.0.1'] : [PUBLIC])),
  });
  expect((await robots({ http }).at('http://a.example', never)).closed).toBe(
    'robots.txt is not at a public address that can be reached.',
  );
});
