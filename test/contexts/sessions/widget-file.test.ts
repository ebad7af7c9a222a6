import { once } from 'node:events';
import { globSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../../widget/src/client/version.js';
import { useService } from '../../support/harness.js';

const service = useService();
const get = (path: string, headers: Record<string, string> = {}) => service.http('GET', path, { headers });

const IMMUTABLE = 'public, max-age=31536000, immutable';
/** The library in it has functions for whole pages, which the widget does not call, and links to its own documentation. */
const LIBRARY = '/widget-highlight-';
const ENCODINGS = [
  ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
  ['gzip', 'gzip;q=0.8, br;q=0', gunzipSync],
  [undefined, 'identity', (body: Buffer) => body],
] as const;

/** As the bytes arrive, which `fetch` would decompress. */
async function raw(path: string, accepted: string): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const asked = request(`${service.baseUrl}${path}`, { headers: { 'accept-encoding': accepted } }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { headers: answer.headers, body: await buffer(answer) };
}

/** The paths that a script imports, resolved as a browser does. */
function importedBy(path: string, text: string): string[] {
  const specifiers = [...text.matchAll(/["'](\.{0,2}\/[^"'\s]*\.js)["']/g)].map(([, specifier = '']) => specifier);
  return specifiers.map((specifier) => new URL(specifier, `${service.baseUrl}${path}`).pathname);
}

/** All chunks that the entry and its chunks import, by path. */
async function chunks(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const visit = async (path: string, text: string): Promise<void> => {
    for (const imported of importedBy(path, text)) {
      if (found.has(imported)) continue;
      const answer = await get(imported);
      expect({ imported, status: answer.status }).toEqual({ imported, status: 200 });
      found.set(imported, answer.text);
      await visit(imported, answer.text);
    }
  };
  await visit('/widget.js', (await get('/widget.js')).text);
  return found;
}

describe('the widget', () => {
  it('is served to any page, without a credential, with its version', async () => {
    const { status, headers, text } = await get('/widget.js');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('x-widget-version')).toBe(VERSION);
    expect(headers.get('cache-control')).toMatch(/max-age=\d{1,3}\b/);
    expect(text).toContain(`agent-chat ${VERSION}`);
    const known = await get('/widget.js', { 'if-none-match': headers.get('etag') ?? '' });
    expect([known.status, known.text]).toEqual([304, '']);
    const among = await get('/widget.js', { 'if-none-match': `"other", ${headers.get('etag') ?? ''}` });
    expect([among.status, among.text]).toEqual([304, '']);
  });

  it.each(ENCODINGS)('is compressed with %s for a client that accepts %s', async (encoding, accepted, open) => {
    const { headers, body } = await raw('/widget.js', accepted);
    expect(headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'text/javascript; charset=utf-8' });
    expect(headers['content-encoding']).toBe(encoding);
    if (encoding !== undefined) expect(body.length).toBeLessThan(30_000);
    expect(open(body).toString()).toBe((await get('/widget.js')).text);
  });

  it('never changes under one version', async () => {
    const { status, headers, text } = await get(`/widget-${VERSION}.js`);
    expect([status, text]).toEqual([200, (await get('/widget.js')).text]);
    expect(headers.get('cache-control')).toBe(IMMUTABLE);
    for (const version of ['0.0.1', '1', 'latest', `${VERSION}.0`]) {
      expect(await get(`/widget-${version}.js`)).toMatchObject({
        status: 404,
        body: { error: 'not_found', message: expect.stringContaining(VERSION) },
      });
    }
  });

  it('contains no other host, and does not turn text into code or markup', async () => {
    const own = [...(await chunks())].filter(([path]) => !path.startsWith(LIBRARY));
    for (const text of [(await get('/widget.js')).text, ...own.map(([, chunk]) => chunk)]) {
      const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
      // The XML namespace of its drawings, which no browser requests.
      expect(hosts.filter((host) => host !== 'www.w3.org')).toEqual([]);
      expect(text).not.toMatch(/\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
    }
  });
});

describe('the chunks of the widget', () => {
  it('are what its files import: all of the build, with one for each language', async () => {
    const paths = [...(await chunks()).keys()].sort();
    expect(paths).toEqual(
      globSync('dist/widget/widget-*.js')
        .map((file) => `/${basename(file)}`)
        .sort(),
    );
    const languages = globSync('widget/src/languages/*.ts').map((file) => basename(file, '.ts'));
    expect(languages.filter((code) => !paths.some((path) => path.startsWith(`/widget-${code}-`)))).toEqual([]);
  });

  it('are modules for pages of any origin, which never change', async () => {
    for (const path of (await chunks()).keys()) {
      const { headers } = await get(path);
      expect({ path, ...Object.fromEntries(headers) }).toMatchObject({
        path,
        'content-type': 'text/javascript; charset=utf-8',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': IMMUTABLE,
        'x-content-type-options': 'nosniff',
        'x-widget-version': VERSION,
        vary: 'accept-encoding',
      });
      const known = await get(path, { 'if-none-match': headers.get('etag') ?? '' });
      expect([path, known.status, known.text]).toEqual([path, 304, '']);
    }
  });

  it.each(ENCODINGS)('are compressed with %s for a client that accepts %s', async (encoding, accepted, open) => {
    for (const [path, text] of await chunks()) {
      const { headers, body } = await raw(path, accepted);
      expect([path, headers['content-encoding']]).toEqual([path, encoding]);
      expect(open(body).toString()).toBe(text);
    }
  });

  it('of another release do not exist: the page is to be reloaded, and no cache keeps the answer', async () => {
    const { status, headers, body } = await get('/widget-de-AAAAAAAA.js');
    expect([status, body]).toMatchObject([
      404,
      { error: 'not_found', message: expect.stringMatching(/another release.*Reload/) },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it.each([
    '/widget-..%2fagent-chat.js',
    '/widget-%2e%2e%2f%2e%2e%2fmain.js',
    '/widget-__proto__.js',
    '/widget-constructor.js',
    '/widget-.js',
    '/agent-chat.js',
    '/widget/agent-chat.js',
    '/widget-x/../../main.js',
    `/widget-${VERSION}.js.map`,
    `/widget-${'a'.repeat(300)}.js`,
  ])('are no other files: %s', async (path) => {
    const asked = request({ host: '127.0.0.1', port: new URL(service.baseUrl).port, path }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(404);
    expect(JSON.parse((await buffer(answer)).toString())).toMatchObject({ statusCode: 404, error: 'not_found' });
  });
});
