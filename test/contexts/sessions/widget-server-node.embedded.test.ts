import { once } from 'node:events';
import { connect, createServer, type ClientHttp2Session, type Http2Server } from 'node:http2';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { loadWidgetServer, NodeSite } from '../../support/widget-server.js';

const { createWidgetHandler, toNodeHandler } = await loadWidgetServer();
const urls: string[] = [];
const handler = createWidgetHandler({
  ...{ serviceUrl: 'https://agents.test', apiKey: 'ak_key', assistantId: newId(), basePath: '/chat' },
  limits: { jsonBytes: 1_000 },
  visitor: ({ url }) => {
    urls.push(url);
    return { id: 'anna' };
  },
  onError: () => undefined,
  fetch: () => {
    const session = { id: newId(), thread_id: newId() };
    return Promise.resolve(Response.json({ session, pass: { token: 'p', expiresInSeconds: 900 } }));
  },
});

describe('HTTP/2', () => {
  let server: Http2Server;
  let client: ClientHttp2Session;
  beforeAll(async () => {
    const answer = toNodeHandler(handler);
    server = createServer((request, response) => void answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(async () => {
    client.close();
    server.close();
    await once(server, 'close');
  });

  async function post(path: string, body: string, headers: Record<string, string>) {
    const asked = client.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json', ...headers });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [Record<string, unknown>];
    return { status: answer[':status'], headers: answer, body: await text(asked) };
  }

  it('is served, and its authority is the host of the own origin', async () => {
    const own = { ':authority': 'shop.test', origin: 'http://shop.test' };
    const { status, body } = await post('/chat/session', '{}', own);
    expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ pass: 'p' })]);
    expect(urls.at(-1)).toBe('http://shop.test/chat/session');
    expect((await post('/chat/session', '{}', { ...own, origin: 'http://evil.test' })).status).toBe(403);
    expect((await post('/chat/other', '{}', own)).status).toBe(404);
  });

  it('has no header of the connection, even after a body that was refused', async () => {
    const { status, headers } = await post('/chat/session', 'x'.repeat(2_000), { ':authority': 'shop.test' });
    expect([status, headers['connection']]).toEqual([413, undefined]);
  });
});

describe('HTTP/1', () => {
  const answer = toNodeHandler(handler);
  let site: NodeSite;
  beforeAll(async () => {
    site = await NodeSite.start((request, response) => {
      const { 'x-mounted': mounted } = request.headers;
      // As a router below a path leaves it.
      void answer(Object.assign(request, mounted === undefined ? {} : { originalUrl: String(mounted) }), response);
    });
  });
  afterAll(() => site.close());

  async function statusOf(path: string, host: string, more = '', version = '1.1'): Promise<number> {
    const socket = connectTcp(site.port, '127.0.0.1');
    const head = `POST ${path} HTTP/${version}\r\n${host}content-type: application/json\r\n${more}`;
    socket.write(`${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`);
    return Number((await text(socket)).split(' ')[1]);
  }

  it.each(['shop/chat', 'shop\\chat', 'shop?a', 'shop#a', 'user@shop', 'sh op', '', 'shop:port'])(
    'refuses the host %j',
    async (host) => {
      expect(await statusOf('/chat/session', `host: ${host}\r\n`)).toBe(400);
    },
  );

  it('needs no host in the old version', async () => {
    expect(await statusOf('/chat/session', '', '', '1.0')).toBe(200);
    expect(await statusOf('/chat/session', '', 'origin: http://localhost\r\n', '1.0')).toBe(403);
  });

  const resolved = [
    '/chat/x/../session',
    '/chat/./session',
    '/chat/x/%2e%2e/session',
    '/chat/x/.%2E/session',
    '/chat/%2e/session',
    '/chat\\session',
    '/x\\..\\chat\\session',
    '/chat/session#a',
    '//chat/session',
    '/../chat/session',
  ];
  it.each(resolved)('compares the path %s as it is', async (path) => {
    expect(await statusOf(path, 'host: shop\r\n')).toBe(404);
    expect(await statusOf('/session', 'host: shop\r\n', `x-mounted: ${path}\r\n`)).toBe(404);
  });

  it('takes the path of the whole site, with any query', async () => {
    expect(await statusOf('/chat/session?a=/../b#c', 'host: shop:80\r\n')).toBe(200);
    expect(await statusOf('/session', 'host: shop\r\n', 'x-mounted: /chat/session\r\n')).toBe(200);
    expect(await statusOf('/session', 'host: shop\r\n')).toBe(404);
  });
});
