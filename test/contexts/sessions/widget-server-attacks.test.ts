import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { PNG } from '../../support/files.js';
import { type TestOrganization, useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { loadWidgetServer, NodeSite } from '../../support/widget-server.js';

const { createWidgetHandler, toNodeHandler } = await loadWidgetServer();
const SITE = 'https://shop.test';
const service = useService();
const problems: Error[] = [];
let organization: TestOrganization;
let agentId: string;
let key: string;
let handler: (request: Request) => Promise<Response>;

const options = (more: object = {}) => ({
  ...{ serviceUrl: service.baseUrl, apiKey: key, assistantId: agentId, basePath: '/chat' },
  visitor: (request: Request) => {
    const id = request.headers.get('x-visitor');
    return id === null ? null : { id };
  },
  onError: (error: Error) => problems.push(error),
  ...more,
});

beforeAll(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
  ({ key } = await organization.keyWith(['chat'], [agentId]));
  handler = createWidgetHandler(options());
});
beforeEach(() => {
  problems.length = 0;
});

interface Asked {
  readonly visitor?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const requestOf = (method: string, path: string, { visitor = 'mallory', body, headers }: Asked = {}) =>
  new Request(`${SITE}${path}`, {
    method,
    headers: {
      ...{ 'x-visitor': visitor, origin: SITE },
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });

/** Every answer of this file is looked through for the key. */
async function ask(method: string, path: string, asked: Asked = {}, by = handler) {
  const answer = await by(requestOf(method, path, asked));
  const content = await answer.text();
  expect(content + JSON.stringify([...answer.headers])).not.toContain(key);
  expect(answer.headers.get('cache-control')).toContain('no-store');
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  return { status: answer.status, headers: answer.headers, text: content, body: isJson ? JSON.parse(content) : null };
}

const message = { message: { role: 'user', content: 'Hello' } };
const openThread = async (visitor: string): Promise<string> =>
  (await ask('POST', '/chat/v1/threads', { visitor, body: {} })).body.id;
const openSession = async (visitor: string): Promise<Record<string, string>> =>
  (await ask('POST', '/chat/session', { visitor, body: {} })).body;
/** A reply that can be rated. */
async function reply(visitor: string): Promise<{ threadId: string; messageId: string }> {
  const threadId = await openThread(visitor);
  service.models.next(says('Yes.'));
  await ask('POST', `/chat/v1/threads/${threadId}/runs/stream`, { visitor, body: message });
  const { body } = await ask('GET', `/chat/v1/threads/${threadId}/messages`, { visitor });
  return { threadId, messageId: body.messages[1].id };
}

describe('a conversation of someone else', () => {
  const threads: Record<string, () => Promise<string>> = {
    'of another visitor': () => openThread('alice'),
    'of another visitor’s session': async () => (await openSession('alice'))['threadId']!,
    'of the organization itself': () => service.thread(organization.key, agentId),
    'with another agent of the organization': async () =>
      service.thread(organization.key, await service.agent(organization.key)),
    'of another organization': async () => {
      const other = await service.organization();
      return service.thread(other.key, await service.agent(other.key));
    },
    'that does not exist': () => Promise.resolve(newId()),
    'of an id in capitals': async () => (await openThread('alice')).toUpperCase(),
  };

  it.each(Object.keys(threads))('(%s) is the same as none, on each route', async (whose) => {
    const threadId = await threads[whose]!();
    const path = `/chat/v1/threads/${threadId}`;
    const answers = [
      await ask('GET', `${path}/messages`),
      await ask('POST', `${path}/runs/stream`, { body: message }),
      await ask('POST', `${path}/runs/stream`, { body: { rejoin: { runId: newId() } } }),
      await ask('POST', `${path}/runs/stream`, { body: { cancel: { runId: newId() } } }),
      await ask('PUT', `${path}/messages/${newId()}/reaction`, { body: { reaction: 'thumbs_up' } }),
      await ask('POST', '/chat/reaction', {
        body: { sessionId: newId(), threadId, messageId: newId(), reaction: 'thumbs_up' },
      }),
    ];
    const none = { statusCode: 404, code: 'not_found', message: 'There is no such conversation.' };
    expect(answers.map(({ body }) => body)).toEqual(answers.map(() => none));
    const { status, body } = await ask('POST', '/chat/session', { body: { threadId } });
    expect([status, body.threadId.toLowerCase() === threadId.toLowerCase()]).toEqual([200, false]);
    expect(problems).toEqual([]);
    expect(service.models.requests).toEqual([]);
  });

  it('cannot be rated or renewed with the tokens of its visitor', async () => {
    const { threadId, messageId } = await reply('alice');
    const session = await openSession('alice');
    expect((await ask('POST', '/chat/session', { body: { resumeToken: session['resumeToken'] } })).status).toBe(403);
    const own = await openSession('mallory');
    const [token] = session['resumeToken']!.split('.');
    const spliced = [token, ...own['resumeToken']!.split('.').slice(1)].join('.');
    const renewed = await ask('POST', '/chat/session', { body: { resumeToken: spliced } });
    // The service refuses the token of another visitor, so there is a new session of the own conversation.
    expect([renewed.status, renewed.body.threadId]).toEqual([200, own['threadId']]);
    for (const sessionId of [session['sessionId'], own['sessionId']]) {
      const body = { sessionId, threadId, messageId, reaction: 'thumbs_down' };
      expect((await ask('POST', '/chat/reaction', { body })).status).toBe(404);
    }
    const { body } = await ask('GET', `/chat/v1/threads/${threadId}/messages`, { visitor: 'alice' });
    expect(body.messages[1].reactions).toEqual({});
  });

  it.each([
    42,
    null,
    ['a'],
    '',
    'a.b.c',
    'rt_x',
    `rt_${'x'.repeat(43)}.${newId()}.${'A'.repeat(43)}`,
    '..',
    '\u0000.\n',
  ])('is not opened by the resume token %j', async (resumeToken) => {
    const { status } = await ask('POST', '/chat/session', { body: { resumeToken } });
    expect([400, 403]).toContain(status);
  });

  it('is not reached through its message in a conversation of one’s own', async () => {
    const { messageId } = await reply('alice');
    const threadId = await openThread('mallory');
    const path = `/chat/v1/threads/${threadId}/messages/${messageId}/reaction`;
    expect((await ask('PUT', path, { body: { reaction: 'thumbs_down' } })).status).toBe(404);
  });
});

describe('a path', () => {
  const id = newId();
  it.each([
    '/chat',
    '/chat/',
    '/chat/v1/agents',
    '/chat/v1/api-keys',
    '/chat/v1/threads/',
    `/chat/v1/threads/${id}`,
    `/chat/v1/threads/${id}/runs`,
    `/chat/v1/threads/${id}/messages/`,
    `/chat/v1/threads/${id}/messages/../../../agents`,
    `/chat/v1/threads/${id}%2fmessages`,
    `/chat/v1/threads/${id}/%6dessages`,
    `/chat/v1/threads/..%2f..%2fagents/messages`,
    '/chat/v1/threads/%2e%2e/agents/messages',
    '/chat/v1/threads/x/messages',
    `/chat/v1/threads/${id}%0d%0ax/messages`,
    `/chat//v1/threads/${id}/messages`,
    `/chat/v1//threads/${id}/messages`,
    `//chat/v1/threads/${id}/messages`,
    `/chat\\v1\\threads\\..\\agents`,
    `/Chat/v1/threads/${id}/messages`,
    `/v1/threads/${id}/messages`,
    '/chatter/session',
  ])('%s leads nowhere', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status } = await ask(method, path, method === 'POST' ? { body: {} } : {});
      expect(status).toBe(404);
    }
  });

  it('is compared as it comes over the wire', async () => {
    const answer = toNodeHandler(handler);
    const site = await NodeSite.start((request, response) => void answer(request, response));
    const statusOf = async (path: string) => {
      const asked = httpRequest({ port: site.port, path, headers: { 'x-visitor': 'mallory' } }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      await text(response);
      return response.statusCode;
    };
    expect(await statusOf(`/chat/session/../v1/agents`)).toBe(404);
    expect(await statusOf(`//evil.test/chat/v1/threads/${id}/messages`)).toBe(404);
    expect(await statusOf(`http://evil.test/chat/v1/threads/${id}/messages`)).toBe(400);
    expect(await statusOf('*')).toBe(400);
    await site.close();
  });

  it.each([
    ['/chat/session', 'POST'],
    ['/chat/reaction', 'POST'],
    ['/chat/v1/threads', 'POST'],
    [`/chat/v1/threads/${id}/messages`, 'GET'],
    [`/chat/v1/threads/${id}/runs/stream`, 'POST'],
    [`/chat/v1/threads/${id}/messages/${id}/reaction`, 'PUT'],
    ['/chat/v1/files/upload', 'POST'],
    ['/chat/v1/chat/suggestions', 'POST'],
  ])('%s takes %s alone', async (path, allowed) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      if (method === allowed) continue;
      const { status, headers } = await ask(method, path);
      expect([method, status, headers.get('allow')]).toEqual([method, 405, allowed]);
    }
  });

  it('is asked for by a known visitor', async () => {
    const anonymous = createWidgetHandler(options({ visitor: () => null }));
    for (const path of ['/chat/session', '/chat/reaction', '/chat/v1/threads', '/chat/v1/files/upload']) {
      expect(await ask('POST', path, { body: {} }, anonymous)).toMatchObject({ status: 401 });
    }
    expect((await ask('GET', `/chat/v1/threads/${id}/messages`, {}, anonymous)).status).toBe(401);
  });
});

describe('a visitor function', () => {
  it.each([
    ['throws', () => Promise.reject(new Error('no database'))],
    ['returns an empty id', () => ({ id: '' })],
    ['returns no id', () => ({})],
    ['returns undefined', () => undefined],
    ['returns a number', () => ({ id: 42 })],
    ['returns a long id', () => ({ id: 'x'.repeat(1_001) })],
    ['returns facts that are no scalars', () => ({ id: 'a', userContext: { a: {} } })],
  ])('that %s admits no visitor', async (_what, visitor) => {
    const broken = createWidgetHandler(options({ visitor }));
    for (const path of ['/chat/session', '/chat/v1/threads']) {
      const { status, text: content } = await ask('POST', path, { body: {} }, broken);
      expect([status, content]).toEqual([500, expect.not.stringContaining('database')]);
    }
    expect(problems).toHaveLength(2);
  });

  it('that gives e-mail addresses is reported, and admits no visitor', async () => {
    const { status } = await ask('POST', '/chat/session', { visitor: 'anna@shop.test', body: {} });
    expect([status, problems[0]?.message]).toEqual([500, expect.stringContaining('never an e-mail address')]);
  });

  it('may use any characters without meeting another visitor', async () => {
    const ids = [
      'a',
      'a ',
      'A',
      '{"id":"a"}',
      'a","thread',
      '"',
      '__proto__',
      'constructor',
      '../a',
      'a\tb',
      'a%0d%0ab',
    ];
    const by = (id: string) => createWidgetHandler(options({ visitor: () => ({ id }) }));
    for (const id of ids) {
      const threadId = (await ask('POST', '/chat/v1/threads', { body: {} }, by(id))).body.id;
      const statuses = await Promise.all(
        ids.map(async (other) => (await ask('GET', `/chat/v1/threads/${threadId}/messages`, {}, by(other))).status),
      );
      expect(statuses).toEqual(ids.map((other) => (other === id ? 200 : 404)));
    }
  });
});

describe('a page of another origin', () => {
  const foreign = [
    'https://evil.test',
    'null',
    'http://shop.test',
    'https://shop.test:444',
    'https://shop.test.evil.test',
  ];
  it.each(foreign)('%s is refused', async (origin) => {
    const { status, headers } = await ask('POST', '/chat/session', { body: {}, headers: { origin } });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  it.each(['cross-site', 'same-site'])('that hides behind a request that is %s is refused', async (site) => {
    const request = requestOf('POST', '/chat/session', { body: {}, headers: { 'sec-fetch-site': site } });
    request.headers.delete('origin');
    expect((await handler(request)).status).toBe(403);
  });

  it('cannot send a form without an origin, while a program can send JSON', async () => {
    const form = new FormData();
    form.set('file', new File(['a'], 'a.txt', { type: 'text/plain' }));
    const upload = requestOf('POST', '/chat/v1/files/upload', { body: form });
    upload.headers.delete('origin');
    expect((await handler(upload)).status).toBe(403);
    const mint = requestOf('POST', '/chat/session', { body: {} });
    mint.headers.delete('origin');
    expect((await handler(mint)).status).toBe(200);
  });

  it('is let in where it is allowed, and may read the answers', async () => {
    const open = createWidgetHandler(options({ allowedOrigins: ['https://www.shop.test'] }));
    const headers = { origin: 'https://www.shop.test' };
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type,x-csrf' };
    const preflight = await ask('OPTIONS', '/chat/session', { headers: { ...headers, ...asked } }, open);
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toEqual([
      204,
      expect.objectContaining({
        'access-control-allow-origin': 'https://www.shop.test',
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'content-type,x-csrf',
        vary: 'origin',
      }),
    ]);
    const answer = await ask('POST', '/chat/session', { body: {}, headers }, open);
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://www.shop.test']);
    const evil = await ask('OPTIONS', '/chat/session', { headers: { ...asked, origin: 'https://evil.test' } }, open);
    expect([evil.status, evil.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  it('behind a proxy that ends TLS is recognized by what the browser says of it', async () => {
    const answer = toNodeHandler(handler);
    const trusting = toNodeHandler(handler, { trustProxy: true });
    const site = await NodeSite.start((request, response) => {
      void (request.headers['x-trust'] === undefined ? answer : trusting)(request, response);
    });
    const mint = async (headers: Record<string, string>) => {
      const all = { 'content-type': 'application/json', 'x-visitor': 'mallory', origin: SITE, ...headers };
      return (await fetch(`${site.url}/chat/session`, { method: 'POST', headers: all, body: '{}' })).status;
    };
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.test' };
    expect(await mint({})).toBe(403);
    expect(await mint(forwarded)).toBe(403);
    expect(await mint({ ...forwarded, 'x-trust': '1' })).toBe(200);
    await site.close();
  });
});

describe('a body', () => {
  const upload = async (visitor: string, fields: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new File([PNG], 'a.png', { type: 'image/png' }));
    return ask('POST', '/chat/v1/files/upload', { visitor, body: form });
  };

  it('cannot attach what the visitor has not uploaded', async () => {
    const threadId = await openThread('mallory');
    const { url: own } = (await upload('mallory')).body;
    const { url: foreign } = (await upload('alice')).body;
    const [plain, proof] = own.split('#');
    const urls = [
      foreign,
      plain,
      `${foreign.split('#')[0]}#${proof}`,
      `${own}x`,
      `${plain}x#${proof}`,
      'http://169.254.169.254/latest/meta-data',
      `http://127.0.0.1/#${proof}`,
      `data:image/png;base64,${PNG.toString('base64')}`,
      '',
      42,
      { toString: own },
    ];
    for (const url of urls) {
      const attachments = [{ name: 'a.png', url, contentType: 'image/png' }];
      const body = { message: { role: 'user', content: 'Look', attachments } };
      expect((await ask('POST', `/chat/v1/threads/${threadId}/runs/stream`, { body })).status).toBe(400);
    }
    service.models.next(says('Nice.'));
    const attachments = [{ name: 'a.png', url: own, contentType: 'image/png' }];
    const body = { message: { role: 'user', content: 'Look', attachments } };
    expect((await ask('POST', `/chat/v1/threads/${threadId}/runs/stream`, { body })).text).toContain('Nice.');
  });

  it('cannot choose the agent of an upload', async () => {
    const other = await service.agent(organization.key);
    expect((await upload('mallory', { assistant_id: other })).status).toBe(200);
    expect(problems).toEqual([]);
  });

  it.each([
    ['no message', {}],
    ['two kinds', { ...message, rejoin: { runId: newId() } }],
    ['a message of no object', { message: 'Hello' }],
    ['a message of a list', { message: [] }],
    ['content of an object', { message: { role: 'user', content: {} } }],
    ['attachments of a text', { message: { role: 'user', content: 'a', attachments: 'a' } }],
    ['a run of no UUID', { rejoin: { runId: '../x' } }],
    ['a position of a text', { rejoin: { runId: newId(), startingAfter: '1' } }],
    ['a decision of a text', { resume: [{ interruptId: newId(), status: 'resolved', payload: { approved: 'yes' } }] }],
    ['a widget of a text', { ...message, widget: '1.0.0' }],
    ['a message in the prototype', JSON.parse('{"__proto__": {"message": {"role": "user", "content": "a"}}}')],
    ['a list', [message]],
  ])('with %s starts no run', async (_what, body) => {
    const threadId = await openThread('mallory');
    expect((await ask('POST', `/chat/v1/threads/${threadId}/runs/stream`, { body })).status).toBe(400);
    expect(service.models.requests).toEqual([]);
  });

  it('of another type, or of no JSON, is refused', async () => {
    const asked = async (type: string, body: string) => {
      const headers = { 'content-type': type, 'x-visitor': 'mallory', origin: SITE };
      return (await handler(new Request(`${SITE}/chat/session`, { method: 'POST', headers, body }))).status;
    };
    expect(await asked('text/plain', '{}')).toBe(415);
    expect(await asked('application/x-www-form-urlencoded', 'a=b')).toBe(415);
    expect(await asked('application/json, text/plain', '{}')).toBe(415);
    expect(await asked('application/json; charset=utf-8', '{}')).toBe(200);
    for (const body of ['', '{', 'null', '[]', '"a"', '['.repeat(100_000)])
      expect(await asked('application/json', body)).toBe(400);
    const file = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await ask('POST', '/chat/v1/files/upload', { body: {}, headers: file })).status).toBe(400);
    const form = new FormData();
    form.set('file', 'no file');
    expect((await ask('POST', '/chat/v1/files/upload', { body: form })).status).toBe(400);
  });

  it('that is too large is refused, with and without its length', async () => {
    const limited = createWidgetHandler(options({ limits: { jsonBytes: 1_000, uploadBytes: 1_000 } }));
    const large = 'x'.repeat(100_000);
    const chunked = (type: string) =>
      new Request(`${SITE}/chat/${type === 'application/json' ? 'session' : 'v1/files/upload'}`, {
        ...{ method: 'POST', headers: { 'content-type': type, 'x-visitor': 'mallory', origin: SITE }, duplex: 'half' },
        body: new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode(large)) }),
      });
    expect((await limited(chunked('application/json'))).status).toBe(413);
    expect((await limited(chunked('multipart/form-data; boundary=x'))).status).toBe(413);
    expect((await ask('POST', '/chat/session', { body: { large } }, limited)).status).toBe(413);
    const declared = { 'content-length': '999999' };
    expect((await ask('POST', '/chat/session', { body: {}, headers: declared }, limited)).status).toBe(413);
    const form = new FormData();
    form.set('file', new File(['x'.repeat(2_000)], 'a.txt', { type: 'text/plain' }));
    expect((await ask('POST', '/chat/v1/files/upload', { body: form }, limited)).status).toBe(413);
  });

  it('that never ends is given up', async () => {
    const impatient = createWidgetHandler(options({ limits: { bodyTimeoutMs: 30 } }));
    const headers = { 'content-type': 'application/json', 'x-visitor': 'mallory', origin: SITE };
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) });
    const request = new Request(`${SITE}/chat/session`, { method: 'POST', headers, body, duplex: 'half' });
    expect((await impatient(request)).status).toBe(408);
  });

  it('that is refused ends its connection on a server of Node', async () => {
    const answer = toNodeHandler(createWidgetHandler(options({ limits: { jsonBytes: 1_000 } })));
    const site = await NodeSite.start((request, response) => void answer(request, response));
    const socket = connect(site.port, '127.0.0.1');
    const head = 'POST /chat/session HTTP/1.1\r\nhost: shop\r\nx-visitor: a\r\ncontent-type: application/json\r\n';
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n800\r\n${'x'.repeat(0x800)}\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/i);
    await site.close();
  });
});
