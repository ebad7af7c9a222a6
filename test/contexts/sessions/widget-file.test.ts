import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../../widget/src/client/version.js';
import { useService } from '../../support/harness.js';

const service = useService();
const get = (path: string, headers: Record<string, string> = {}) => service.http('GET', path, { headers });

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

  it.each([
    ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
    ['gzip', 'gzip;q=0.8, br;q=0', gunzipSync],
    [undefined, 'identity', (body: Buffer) => body],
  ] as const)('is compressed with %s for a client that accepts %s', async (encoding, accepted, open) => {
    const asked = request(`${service.baseUrl}/widget.js`, { headers: { 'accept-encoding': accepted } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'text/javascript; charset=utf-8' });
    expect(answer.headers['content-encoding']).toBe(encoding);
    const body = await buffer(answer);
    if (encoding !== undefined) expect(body.length).toBeLessThan(25_000);
    expect(open(body).toString()).toBe((await get('/widget.js')).text);
  });

  it('never changes under one version', async () => {
    const { status, headers, text } = await get(`/widget-${VERSION}.js`);
    expect([status, text]).toEqual([200, (await get('/widget.js')).text]);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    for (const version of ['0.0.1', '1', 'latest', `${VERSION}.0`]) {
      expect(await get(`/widget-${version}.js`)).toMatchObject({
        status: 404,
        body: { error: 'not_found', message: expect.stringContaining(VERSION) },
      });
    }
  });

  it('contains no other host, and does not turn text into code or markup', async () => {
    const { text } = await get('/widget.js');
    const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
    // The XML namespace of its drawings, which no browser requests.
    expect(new Set(hosts)).toEqual(new Set(['www.w3.org']));
    expect(text).not.toMatch(/\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });
});
