import { gzipSync } from 'node:zlib';
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
  });

  it('never changes under its version', async () => {
    const { status, headers, text } = await get(`/widget-${VERSION}.js`);
    expect([status, text]).toEqual([200, (await get('/widget.js')).text]);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    for (const version of ['0.0.1', '1', 'latest', `${VERSION}.0`]) {
      expect(await get(`/widget-${version}.js`)).toMatchObject({ status: 404, body: { error: 'not_found', message: expect.stringContaining(VERSION) } });
    }
  });

  it('has less than 25 kB compressed, and names no other host', async () => {
    const { text } = await get('/widget.js');
    expect(gzipSync(text).length).toBeLessThan(25_000);
    const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
    // The namespace of its drawings, which nobody asks for.
    expect(new Set(hosts)).toEqual(new Set(['www.w3.org']));
    expect(text).not.toMatch(/\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });
});
