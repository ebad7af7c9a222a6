import type { RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { useEgressBench } from '../../../../test/support/egress-bench.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { leaseOf } from '../../../../test/support/site-access.js';
import { until } from '../../../../test/support/until.js';
import { type Clock, SystemClock } from '../../../platform/clock/index.js';
import type { SafeHttp } from '../../../platform/egress/index.js';
import { HostPaused } from '../domain/host-lease.js';
import { type FetchedPage, HttpPageFetcher, type PageRequest } from './http-page-fetcher.js';

const bench = useEgressBench();
const system = new SystemClock();
/** A lease without a pause. Each test has its own. */
const request = (clock: Clock = system): PageRequest => ({
  host: leaseOf(clock),
  crawlDelayMs: 0,
  etag: null,
  lastModified: null,
  isWanted: () => true,
  isOtherPage: () => true,
});
const never = new AbortController().signal;

interface Circumstances {
  readonly clock?: Clock;
  readonly http?: SafeHttp;
}

function fetcher({ clock = system, http = bench.toCanary({ clock }) }: Circumstances = {}): HttpPageFetcher {
  return new HttpPageFetcher(http, clock);
}

function fetchPage(
  path = '/',
  given: Partial<PageRequest> = {},
  circumstances: Circumstances = {},
): Promise<FetchedPage> {
  return fetcher(circumstances).fetch(
    `${bench.canary.url}${path}`,
    { ...request(circumstances.clock), ...given },
    never,
  );
}

const answer =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): RequestListener =>
  (_request, response) =>
    response.writeHead(status, headers).end(body);

/** Writes endlessly, as fast as it is read. */
function pump(response: ServerResponse, chunk: Buffer): void {
  if (response.destroyed) return;
  if (response.write(chunk)) setImmediate(pump, response, chunk);
  else response.once('drain', () => pump(response, chunk));
}

describe('a page', () => {
  it('is returned with its content type and validators', async () => {
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      etag: '"1"',
      'last-modified': 'Mon, 23 Nov 2026 10:00:00 GMT',
    };
    bench.canary.respond(answer(200, { ...headers, 'content-encoding': 'gzip' }, gzipSync('<p>Grüße')));
    const page = await fetchPage('/a?b#c');
    expect(page).toMatchObject({
      kind: 'content',
      url: `${bench.canary.url}/a?b`,
      contentType: headers['content-type'],
      etag: '"1"',
      lastModified: headers['last-modified'],
      noindex: false,
    });
    expect(page.kind === 'content' && page.body.toString()).toBe('<p>Grüße');
    const { headers: sent, url } = bench.canary.requests.at(-1)!;
    expect(sent).toMatchObject({ 'user-agent': 'agent-service/1.0' });
    expect(sent.accept).toMatch(/text\/html.*text\/markdown.*text\/plain.*application\/pdf/);
    expect(url).toBe('/a?b');
  });

  it('is requested with the validators of the last crawl, and may be unchanged', async () => {
    bench.canary.respond((request, response) =>
      response.writeHead(request.headers['if-none-match'] === '"1"' ? 304 : 200).end('x'),
    );
    const known = { etag: '"1"', lastModified: 'Mon, 23 Nov 2026 10:00:00 GMT' };
    expect(await fetchPage('/', known)).toEqual({ kind: 'not_modified' });
    expect(bench.canary.requests.at(-1)?.headers['if-modified-since']).toBe(known.lastModified);
    expect(await fetchPage('/')).toMatchObject({ kind: 'content' });
    bench.canary.respond(answer(304));
    expect(await fetchPage('/')).toMatchObject({ kind: 'failed', reason: 'The server answered 304.' });
  });

  it('with an invalid etag is requested without it', async () => {
    bench.canary.respond(answer(200, { etag: '"é"' }, 'x'));
    expect(await fetchPage('/')).toMatchObject({ kind: 'content', etag: null });
    expect(await fetchPage('/', { etag: '"\u20ac\r\nx: y"' })).toMatchObject({ kind: 'content' });
  });

  it.each<[status: number, expected: string]>([
    [401, 'failed'],
    [403, 'failed'],
    [400, 'failed'],
    [451, 'failed'],
    [204, 'failed'],
    [206, 'failed'],
    [300, 'failed'],
    [302, 'failed'],
    [404, 'not_found'],
    [410, 'not_found'],
    [408, 'retry'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [502, 'retry'],
    [503, 'retry'],
    [599, 'retry'],
  ])('answered with %i has %s', async (status, kind) => {
    bench.canary.respond(answer(status));
    const retry = kind === 'retry' ? { retryAfterMs: null } : {};
    expect(await fetchPage()).toEqual({ kind, reason: `The server answered ${status}.`, ...retry });
  });

  it.each([
    ['7', 7_000],
    ['86400', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['retry', null],
  ])('is retried after the Retry-After header: %s', async (header, ms) => {
    bench.canary.respond(answer(503, { 'retry-after': header }));
    expect(await fetchPage('/', {}, { clock: new ManualClock() })).toMatchObject({ kind: 'retry', retryAfterMs: ms });
  });

  it.each([
    'text/html',
    'TEXT/HTML;charset=x',
    'application/xhtml+xml',
    'text/plain',
    'text/markdown; x=y',
    'application/pdf',
    'application/octet-stream',
    '',
    'text/html, text/html',
  ])('of the type %j is read', async (type) => {
    bench.canary.respond(answer(200, type === '' ? {} : { 'content-type': type }, 'x'));
    expect(await fetchPage()).toMatchObject({ kind: 'content', contentType: type === '' ? null : type });
  });

  it.each(['image/png', 'application/zip', 'text/css', 'video/mp4', 'nonsense', 'application/json<script>'])(
    'of the type %s is skipped before its body',
    async (type) => {
      let written = 0;
      bench.canary.respond((_request, response) => {
        response.writeHead(200, { 'content-type': type });
        const chunk = Buffer.alloc(65_536);
        const write = (): void => {
          if (response.destroyed) return;
          written += chunk.length;
          if (response.write(chunk)) setImmediate(write);
          else response.once('drain', write);
        };
        write();
      });
      const page = await fetchPage();
      expect(page).toMatchObject({ kind: 'skipped' });
      expect(page.kind === 'skipped' && page.reason).toMatch(/^The server sends another type: [\w/+.-]+\.$/);
      await until(() => bench.canary.requests.at(-1)?.socket.destroyed === true, 'the body to be discarded');
      expect(written).toBeLessThan(20 * 1024 * 1024);
    },
  );

  it('may forbid indexing', async () => {
    bench.canary.respond((_request, response) =>
      response
        .writeHead(
          200,
          [
            ['x-robots-tag', 'otherbot: nofollow'],
            ['x-robots-tag', 'agent-service: noindex'],
          ].flat(),
        )
        .end('x'),
    );
    expect(await fetchPage()).toMatchObject({ kind: 'content', noindex: true });
    bench.canary.respond(answer(200, { 'x-robots-tag': 'otherbot: noindex' }, 'x'));
    expect(await fetchPage()).toMatchObject({ kind: 'content', noindex: false });
  });

  it.each([
    [429, {}, 2_000],
    [429, { 'retry-after': '7' }, 7_000],
    [503, { 'retry-after': '7' }, 7_000],
    [503, {}, 0],
    [500, { 'retry-after': '7' }, 0],
  ])('that is answered with %i and %j has the host left alone for %i ms', async (status, headers, ms) => {
    bench.canary.respond(answer(status, headers));
    const clock = new ManualClock();
    const host = leaseOf(clock);
    await fetchPage('/', { host }, { clock });
    expect(host.pauseMs).toBe(ms);
  });
});

describe('a redirect of a page', () => {
  const redirect = (to: Record<string, string>): void => {
    bench.canary.respond((request, response) => {
      const location = to[request.url ?? ''];
      if (location === undefined) response.writeHead(200, { 'content-type': 'text/html' }).end('there');
      else response.writeHead(301, { location }).end();
    });
  };

  it('inside the site is followed, with the same conditions', async () => {
    redirect({ '/': 'b', '/b': '/c#part' });
    const asked: string[] = [];
    const page = await fetchPage('/', { etag: '"1"', isWanted: (url) => asked.push(url.pathname) > 0 });
    expect(page).toMatchObject({ kind: 'content', url: `${bench.canary.url}/c` });
    expect(asked).toEqual(['/b', '/c']);
    expect(bench.canary.requests.at(-1)?.headers['if-none-match']).toBe('"1"');
  });

  it('to an unwanted page is not followed', async () => {
    redirect({ '/': '/b' });
    const before = bench.canary.requests.length;
    expect(await fetchPage('/', { isWanted: () => false })).toMatchObject({ kind: 'skipped' });
    expect(bench.canary.requests).toHaveLength(before + 1);
  });

  it.each([
    'http://other.example/',
    '//other.example/x',
    'http://localhost:1/',
    'https://127.0.0.1/',
    'ftp://127.0.0.1/',
    'javascript:alert(1)',
    'data:text/html,x',
  ])('to %s leads out of the site', async (location) => {
    redirect({ '/': location });
    expect(await fetchPage()).toMatchObject({
      kind: 'skipped',
      reason: expect.stringMatching(/^The server redirects out of the site, to /),
      redirectsTo: expect.any(String),
    });
  });

  it('out of the site names the target without its query, which may be secret', async () => {
    redirect({ '/': 'https://user:password@www.other.example/en/?token=secret#x' });
    expect(await fetchPage()).toEqual({
      kind: 'skipped',
      reason: 'The server redirects out of the site, to https://www.other.example/en/',
      redirectsTo: 'https://www.other.example/en/',
    });
  });

  it('to an invalid address fails', async () => {
    redirect({ '/': 'http://[::1' });
    expect(await fetchPage()).toMatchObject({ kind: 'failed' });
  });

  it('in a circle fails, and so do too many', async () => {
    redirect({ '/': '/b', '/b': '/c', '/c': '/b#again' });
    const before = bench.canary.requests.length;
    expect(await fetchPage()).toEqual({ kind: 'failed', reason: 'The server redirects in a circle.' });
    expect(bench.canary.requests).toHaveLength(before + 3);
    bench.canary.respond((request, response) => response.writeHead(302, { location: `${request.url}x` }).end());
    expect(await fetchPage()).toEqual({ kind: 'failed', reason: 'The server redirects more than 10 times.' });
    expect(bench.canary.requests).toHaveLength(before + 3 + 11);
  });
});

describe('a redirect by a host with a crawl delay', () => {
  const moveTo = (location: string): void => {
    bench.canary.respond((request, response) =>
      (request.url === '/' ? response.writeHead(302, { location }) : response.writeHead(200)).end('x'),
    );
  };

  it('to another page is not followed', async () => {
    moveTo('/b#part');
    const before = bench.canary.requests.length;
    expect(await fetchPage('/', { crawlDelayMs: 1_000 })).toEqual({ kind: 'redirected', url: `${bench.canary.url}/b` });
    expect(bench.canary.requests).toHaveLength(before + 1);
  });

  it('to another form of the same page is followed after the pause', async () => {
    moveTo('/b');
    const clock = new ManualClock();
    const asked: string[] = [];
    const page = fetchPage(
      '/',
      { host: leaseOf(clock), crawlDelayMs: 1_000, isOtherPage: ({ pathname }) => asked.push(pathname) === 0 },
      { clock },
    );
    await until(() => clock.sleeping() === 1, 'the pause');
    expect(clock.nextIn()).toBe(1_000);
    await clock.advance(1_000);
    expect(await page).toMatchObject({ kind: 'content', url: `${bench.canary.url}/b` });
    expect(asked).toEqual(['/b']);
  });

  it('is not requested during a pause of the host', async () => {
    const host = leaseOf(system);
    await fetchPage('/', { host, crawlDelayMs: 1_000 });
    await expect(fetchPage('/', { host, crawlDelayMs: 1_000 })).rejects.toThrow(HostPaused);
  });
});

describe('a server that does something wrong', () => {
  it('sends slowly: the page times out', async () => {
    const clock = new ManualClock();
    bench.canary.respond((_request, response) => void response.writeHead(200).write('drip'));
    const before = bench.canary.requests.length;
    const page = fetchPage('/', {}, { clock });
    await until(() => bench.canary.requests.length > before, 'the request');
    let given: FetchedPage | undefined;
    void page.then((got) => (given = got));
    await until(async () => {
      await clock.advance(1_000);
      return given !== undefined;
    }, 'the page to time out');
    expect(given).toEqual({ kind: 'retry', reason: 'The server did not answer in time.', retryAfterMs: null });
    expect(clock.monotonic()).toBeLessThanOrEqual(60_000);
  });

  it('sends endlessly: too large', async () => {
    bench.canary.respond((_request, response) => pump(response.writeHead(200), Buffer.alloc(65_536, 'x')));
    expect(await fetchPage()).toEqual({ kind: 'failed', reason: 'The page is larger than 10 MiB.' });
  });

  it('sends 10 GB of zeros compressed: too large', async () => {
    const part = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    bench.canary.respond((_request, response) => pump(response.writeHead(200, { 'content-encoding': 'gzip' }), part));
    expect(await fetchPage()).toEqual({ kind: 'failed', reason: 'The page is larger than 10 MiB.' });
  });

  it.each<[what: string, listener: RequestListener]>([
    [
      'breaks off in the middle',
      (_request, response) =>
        response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy()),
    ],
    [
      'declares a length that is too long',
      (request) => request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'),
    ],
    ['declares an invalid length', (request) => request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nx')],
    ['speaks no HTTP', (request) => request.socket.end('SSH-2.0-server\r\n')],
    [
      'sends headers without end',
      (request) => {
        request.socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\n');
        const flood = (): void => {
          if (!request.socket.destroyed && request.socket.write(`x-${'a'.repeat(1_000)}: b\r\n`.repeat(64)))
            setImmediate(flood);
        };
        flood();
      },
    ],
    ['closes the connection', (request) => request.socket.destroy()],
    ['is not compressed as declared', answer(200, { 'content-encoding': 'gzip' }, 'no gzip')],
  ])('%s: later', async (_what, listener) => {
    bench.canary.respond(listener);
    const page = await fetchPage();
    expect(page).toMatchObject({ kind: 'retry', retryAfterMs: null });
    expect(page.kind === 'retry' && page.reason).toMatch(/^The (?:server|response) [a-z ]+\.$/);
  });

  it('sends more than its content-length: the content-length counts', async () => {
    bench.canary.respond((request) =>
      request.socket.end(
        'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\nconnection: close\r\n\r\ntext and more',
      ),
    );
    const page = await fetchPage();
    expect(page.kind === 'content' ? page.body.toString() : page.kind).toMatch(/^text$|^later$/);
  });

  it('is unreachable: retry', async () => {
    const http = bench.client({ allow: ['127.0.0.1:1'] });
    expect(await fetcher({ http }).fetch('http://127.0.0.1:1/', request(), never)).toMatchObject({
      kind: 'retry',
      reason: 'The server could not be reached.',
    });
  });

  it.each(['http://user:password@example.com/', 'ftp://example.com/', 'nonsense', 'http://', 'file:///etc/passwd'])(
    'has the address %s: failed',
    async (address) => {
      expect(await fetcher().fetch(address, request(), never)).toMatchObject({ kind: 'failed' });
    },
  );
});

it('an aborted request ends with the reason of its signal', async () => {
  bench.canary.respond(() => undefined);
  const giveUp = new AbortController();
  const before = bench.canary.requests.length;
  const page = fetcher().fetch(bench.canary.url, request(), giveUp.signal);
  const failed = page.catch((error: unknown) => error);
  await until(() => bench.canary.requests.length > before, 'the request');
  const reason = new Error('superseded');
  giveUp.abort(reason);
  expect(await failed).toBe(reason);
});
