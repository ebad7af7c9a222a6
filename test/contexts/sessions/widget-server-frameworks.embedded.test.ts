import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { newId } from '../../../src/platform/ids/index.js';
import { FakeUpstream } from '../../support/fake-upstream.js';
import { loadWidgetServer, NodeSite } from '../../support/widget-server.js';

const { createWidgetHandler, toNodeHandler } = await loadWidgetServer();
/** Has no types of its own. */
const express = createRequire(import.meta.url)('express') as Express;
interface Express {
  (): RequestListener & { use(...handlers: unknown[]): void };
  json(): unknown;
}

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await FakeUpstream.start(async (exchange) => {
    if (exchange.request.path.endsWith('/stream')) await exchange.sendAll(['data: 1\n\n', 'data: 2\n\n']);
    else exchange.refuse(200, { id: newId() });
  });
});
afterAll(() => upstream.close());

/** The visitor is on the framework's own request. */
const chatOf = () =>
  createWidgetHandler({
    ...{ serviceUrl: upstream.url, apiKey: 'ak_key', assistantId: newId(), basePath: '/chat' },
    onError: () => undefined,
    visitor: (_request: Request, { user = '' }: object & { readonly user?: string }) => ({ id: user }),
  });

/** As docs/guide/widget-server.md shows them. */
const frameworks: Record<string, () => RequestListener | Promise<RequestListener>> = {
  express: () => {
    const app = express();
    app.use(express.json());
    app.use((request: object, _response: unknown, next: () => void) => {
      Object.assign(request, { user: 'anna' });
      next();
    });
    app.use('/chat', toNodeHandler(chatOf()));
    return app;
  },
  fastify: async () => {
    const app = fastify();
    const chat = chatOf();
    await app.register((scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, parsed) => {
        parsed(null);
      });
      scope.all('/chat/*', (request, reply) => {
        reply.hijack();
        return toNodeHandler((web) => chat(web, { user: 'anna' }))(request.raw, reply.raw);
      });
      done();
    });
    await app.ready();
    return (request, response) => {
      app.routing(request, response);
    };
  },
  hono: () => {
    const app = new Hono();
    const chat = chatOf();
    app.all('/chat/*', (context) => chat(context.req.raw, { user: 'anna' }));
    const answer = toNodeHandler((request) => Promise.resolve(app.fetch(request)));
    return (request, response) => void answer(request, response);
  },
};

describe.each(Object.keys(frameworks))('%s', (name) => {
  it('runs the handler', async () => {
    const site = await NodeSite.start(await frameworks[name]!());
    const send = (method: string, path: string, body: object) =>
      fetch(`${site.url}/chat${path}`, {
        ...{ method, headers: { 'content-type': 'application/json', origin: site.url } },
        body: JSON.stringify(body),
      });
    const { id } = (await (await send('POST', '/v1/threads', {})).json()) as { id: string };
    const message = { role: 'user', content: 'x'.repeat(100_000) };
    const reply = await send('POST', `/v1/threads/${id}/runs/stream`, { message });
    expect([reply.headers.get('content-type'), await reply.text()]).toEqual([
      'text/event-stream; charset=utf-8',
      'data: 1\n\ndata: 2\n\n',
    ]);
    expect(upstream.requests.at(-1)?.body).toMatchObject({ message, config: { userContext: { userId: 'anna' } } });
    const large = await send('POST', '/session', { large: 'x'.repeat(name === 'express' ? 1 : 2_000_000) });
    expect(large.status).toBe(name === 'express' ? 502 : 413);
    expect((await send('POST', '/v1/agents', {})).status).toBe(404);
    await site.close();
  });
});
