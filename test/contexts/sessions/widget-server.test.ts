import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { PNG } from '../../support/files.js';
import { type TestOrganization, until, useService } from '../../support/harness.js';
import { calls, HeldReply, says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { loadWidgetClient, loadWidgetServer, NodeSite, type WidgetClient } from '../../support/widget-server.js';

const { createWidgetHandler, toNodeHandler } = await loadWidgetServer();
const clientOf = await loadWidgetClient();
const clock = new ShiftedClock();
const service = useService({ clock });
const problems: Error[] = [];
const stored = new Map<string, { threadId: string; title?: string | null; updatedAt?: string | null }[]>();
let organization: TestOrganization;
let agentId: string;
let key: string;
let site: NodeSite;

const conversations = {
  list: (visitorId: string) => Promise.resolve(stored.get(visitorId) ?? []),
  add: (visitorId: string, threadId: string) => {
    stored.set(visitorId, [{ threadId }, ...(stored.get(visitorId) ?? [])]);
    return Promise.resolve();
  },
};

/** The key has only what the guide says that it needs. */
const options = (more: object = {}) => ({
  ...{ serviceUrl: service.baseUrl, apiKey: key, assistantId: agentId, basePath: '/chat' },
  visitor: (request: Request) => {
    const id = request.headers.get('x-visitor');
    return id === null ? null : { id, userContext: { plan: 'pro' } };
  },
  onError: (error: Error) => problems.push(error),
  ...more,
});

beforeAll(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
  ({ key } = await organization.keyWith(['chat'], [agentId]));
  const answer = toNodeHandler(createWidgetHandler(options({ conversations })));
  site = await NodeSite.start((request, response) => void answer(request, response));
});
afterAll(() => site.close());

/** The widget's client, in a page on which someone is signed in. */
function chat(visitor: string, of: object): WidgetClient {
  return clientOf(of, (url, init) =>
    fetch(url, { ...init, headers: { ...(init?.headers as object), origin: site.url, 'x-visitor': visitor } }),
  );
}
const proxyMode = () => ({ mode: 'proxy', baseUrl: `${site.url}/chat`, assistantId: agentId });
const sessionMode = () => ({
  ...{ mode: 'session', baseUrl: service.baseUrl },
  ...{ credentials: `${site.url}/chat/session`, reactions: `${site.url}/chat/reaction` },
});
const send = (path: string, body: object, visitor: string) => {
  const headers = { 'content-type': 'application/json', 'x-visitor': visitor };
  return fetch(`${site.url}/chat${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
};
const post = async (path: string, body: object, visitor = 'anna') => {
  const answer = await send(path, body, visitor);
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
};
const textsOf = ({ state }: WidgetClient) => state.messages.map(({ role, text }) => `${role}: ${text}`);
const messagesOf = async (threadId: string) =>
  (
    await service.http<{ messages: Record<string, never>[] }>('GET', `/v1/threads/${threadId}/messages`, {
      key: organization.key,
    })
  ).body.messages;

describe('session mode', () => {
  it('gives the widget a session, and stores thumbs', async () => {
    service.models.next(says('Good day.'));
    const client = chat('anna', sessionMode());
    await client.start();
    await client.send('Hello');
    expect([client.state.status, textsOf(client)]).toEqual(['ready', ['user: Hello', 'assistant: Good day.']]);
    await client.react(client.state.messages[1]!.key, 'thumbs_down');
    expect(client.state.failure).toBeNull();
    const [{ threadId }] = stored.get('anna') as [{ threadId: string }];
    expect((await messagesOf(threadId))[1]).toMatchObject({ reactions: { thumbs_down: expect.anything() } });
    const { body } = await service.http('GET', `/v1/threads/${threadId}`, { key: organization.key });
    expect(body['channel']).toBe('widget');
    client.close();
  });

  it('takes a comment with a reaction', async () => {
    service.models.next(says('Good day.'));
    const { body } = await post('/session', {}, 'clara');
    await service.http('POST', `/v1/threads/${body['threadId']}/runs`, {
      key: body['pass'],
      body: { message: { role: 'user', content: 'Hello' } },
    });
    const [, reply] = await messagesOf(body['threadId']!);
    const { sessionId, threadId } = body;
    const rated = { sessionId, threadId, messageId: reply!['id'], reaction: 'thumbs_up', comment: 'Fast.' };
    expect((await send('/reaction', rated, 'clara')).status).toBe(204);
    expect(JSON.stringify((await messagesOf(threadId!))[1])).toContain('Fast.');
  });

  it('renews the pass of a session, and begins another one in its conversation when it has ended', async () => {
    const first = (await post('/session', {})).body;
    expect(first).toMatchObject({ isNew: true });
    clock.moveOn(1_000);
    const renewed = (await post('/session', { resumeToken: first['resumeToken'] })).body;
    const { isNew: _isNew, resumeToken: _resumeToken, ...same } = first;
    expect(renewed).toEqual({ ...same, pass: expect.any(String), expiresIn: 900 });
    expect(renewed['pass']).not.toBe(first['pass']);
    clock.moveOn(25 * 3_600_000);
    const { status, body: again } = await post('/session', { resumeToken: first['resumeToken'] });
    expect([status, again['threadId'], typeof again['resumeToken']]).toEqual([200, first['threadId'], 'string']);
    expect(again['sessionId']).not.toBe(first['sessionId']);
  });

  it('is over for good when its conversation was deleted, so that the widget begins a new one', async () => {
    const first = (await post('/session', {})).body;
    await service.http('DELETE', `/v1/threads/${first['threadId']}`, { key: organization.key });
    expect((await post('/session', { resumeToken: first['resumeToken'] })).status).toBe(404);
    const { status, body } = await post('/session', { threadId: first['threadId'] });
    expect([status, body['threadId'] === first['threadId']]).toEqual([200, false]);
  });
});

describe('proxy mode', () => {
  it('relays a conversation with a file, suggestions and thumbs', async () => {
    const client = chat('ben', proxyMode());
    await client.start();
    const file = new File([PNG], 'Bild größe 1.png', { type: 'image/png' });
    const { name, url, contentType } = await client.upload(file);
    expect([name, contentType]).toEqual(['Bild größe 1.png', 'image/png']);
    service.models.next(says('A picture.'), says('{"suggestions": ["One", "Two", "Three"]}'));
    await client.send('What is it?', [{ name, url, contentType }]);
    expect(textsOf(client)).toEqual(['user: What is it?', 'assistant: A picture.']);
    await until(() => client.state.suggestions.length > 0, 'there are suggestions');
    await client.react(client.state.messages[1]!.key, 'thumbs_up');
    expect(client.state.failure).toBeNull();
    const [{ threadId }] = stored.get('ben') as [{ threadId: string }];
    const messages = await messagesOf(threadId);
    expect(messages[0]).toMatchObject({ attachments: [{ name, contentType }] });
    expect(messages[1]).toMatchObject({ reactions: { thumbs_up: expect.anything() } });
    client.close();
  });

  it('passes events on as they come', async () => {
    const held = new HeldReply(['One, '], ['two.']);
    service.models.next(held.script, says('[]'), says('[]'));
    const client = chat('ben', proxyMode());
    await client.start();
    const sent = client.send('Count');
    await until(() => textsOf(client)[1] === 'assistant: One, ', 'the first part has arrived');
    held.finish();
    await sent;
    expect(textsOf(client)[1]).toBe('assistant: One, two.');
    client.close();
  });

  it('gives runs the visitor of the server, who has memories of their own', async () => {
    for (const visitor of ['carl', 'dora']) {
      const { body } = await post('/v1/threads', {}, visitor);
      service.models.next(calls('memory_save', { text: `I am ${visitor}` }), says('Noted.'));
      const message = { role: 'user', content: 'Remember me' };
      const smuggled = { config: { userContext: { userId: 'carl' } } };
      const answer = await send(`/v1/threads/${body['id']}/runs/stream`, { message, ...smuggled }, visitor);
      expect(await answer.text()).toContain('Noted.');
    }
    const of = async (userId: string) => {
      const path = `/v1/agents/${agentId}/memories?userId=${userId}`;
      return (await service.http<{ memories: { text: string }[] }>('GET', path, { key: organization.key })).body
        .memories;
    };
    expect(await of('carl')).toMatchObject([{ text: 'I am carl' }]);
    expect(await of('dora')).toMatchObject([{ text: 'I am dora' }]);
  });

  it('begins a thread once for one idempotency key of a visitor', async () => {
    const open = async (visitor: string) => {
      const headers = { 'content-type': 'application/json', 'x-visitor': visitor, 'idempotency-key': 'one' };
      const answer = await fetch(`${site.url}/chat/v1/threads`, { method: 'POST', headers, body: '{}' });
      return ((await answer.json()) as { id: string }).id;
    };
    const first = await open('emil');
    expect(await open('emil')).toBe(first);
    expect(await open('fritz')).not.toBe(first);
  });
});

describe('the list of conversations', () => {
  const listOf = async (visitor: string, path = '/chat/conversations') => {
    const answer = await fetch(`${site.url}${path}`, { headers: { 'x-visitor': visitor } });
    return { status: answer.status, body: (await answer.json()) as { conversations: { threadId: string }[] } };
  };

  it('has those with messages, the newest first, with their titles, and each can be continued', async () => {
    const threads: string[] = [];
    for (const text of ['First', 'Second']) {
      const client = chat('gina', proxyMode());
      service.models.next(says('Yes.'));
      service.models.always(says('{"suggestions": ["One", "Two", "Three"]}'));
      await client.start();
      await client.send(text);
      await until(() => client.state.suggestions.length > 0, 'there are suggestions');
      client.close();
      threads.unshift(stored.get('gina')![0]!.threadId);
    }
    await post('/session', {}, 'gina');
    expect(stored.get('gina')).toHaveLength(3);
    const { status, body } = await listOf('gina');
    const updatedAt = expect.stringMatching(/^\d{4}-.*Z$/);
    const expected = ['Second', 'First'].map((title, at) => ({ threadId: threads[at], title, updatedAt }));
    expect([status, body.conversations]).toEqual([200, expected]);
    expect((await post('/session', { threadId: threads[1] }, 'gina')).body['threadId']).toBe(threads[1]);
    expect((await listOf('nobody')).body).toEqual({ conversations: [] });
  });

  it('takes titles and times of the store as they are, and has at most 50', async () => {
    const of = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        threadId: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        title: `Title ${index}`,
        updatedAt: new Date(index * 1000).toISOString(),
      }));
    stored.set('hans', of(60));
    const { body } = await listOf('hans');
    expect(body.conversations).toEqual(of(60).slice(10).reverse());
  });

  it('continues a conversation that began as a session, in proxy mode, by the list', async () => {
    const { body } = await post('/session', {}, 'ida');
    const path = `${site.url}/chat/v1/threads/${body['threadId']}/messages`;
    expect((await fetch(path, { headers: { 'x-visitor': 'ida' } })).status).toBe(200);
    expect((await fetch(path, { headers: { 'x-visitor': 'hans' } })).status).toBe(404);
  });

  it('is not there without a store', async () => {
    const handler = createWidgetHandler(options());
    const request = new Request('http://shop.test/chat/conversations', { headers: { 'x-visitor': 'anna' } });
    expect((await handler(request)).status).toBe(404);
  });
});

describe('the handler', () => {
  it('works in any framework with requests of the web', async () => {
    const handler = createWidgetHandler(
      options({ visitor: (_request: Request, { user }: { user: string }) => ({ id: user }) }) as Parameters<
        typeof createWidgetHandler<{ user: string }>
      >[0],
    );
    const headers = { 'content-type': 'application/json', origin: 'http://shop.test' };
    const request = new Request('http://shop.test/chat/session', { method: 'POST', headers, body: '{}' });
    const answer = await handler(request, { user: 'karl' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store, no-transform']);
    expect(await answer.json()).toMatchObject({ pass: expect.any(String), expiresIn: 900 });
  });

  it('remembers a conversation of its own key on another process', async () => {
    const { body } = await post('/v1/threads', {}, 'lena');
    const other = createWidgetHandler(options());
    const path = `http://shop.test/chat/v1/threads/${body['id']}/messages`;
    expect((await other(new Request(path, { headers: { 'x-visitor': 'lena' } }))).status).toBe(200);
    const changed = createWidgetHandler(options({ secret: 's'.repeat(32) }));
    expect((await changed(new Request(path, { headers: { 'x-visitor': 'lena' } }))).status).toBe(404);
  });

  it('knows no conversation with another agent', async () => {
    const both = { apiKey: organization.key, visitor: () => ({ id: 'lena' }) };
    const other = { ...both, assistantId: await service.agent(organization.key) };
    const headers = { 'content-type': 'application/json' };
    const open = new Request('http://shop.test/chat/v1/threads', { method: 'POST', headers, body: '{}' });
    const { id } = (await (await createWidgetHandler(options(both))(open)).json()) as { id: string };
    const read = async (of: object) =>
      (await createWidgetHandler(options(of))(new Request(`http://shop.test/chat/v1/threads/${id}/messages`))).status;
    expect([await read(both), await read(other)]).toEqual([200, 404]);
  });

  it('works behind a parser of bodies, and below the path of a router', async () => {
    const answer = toNodeHandler(
      createWidgetHandler(
        options({ visitor: (_request: Request, { user }: { user: string }) => ({ id: user }) }) as never,
      ),
    );
    const parsing = await NodeSite.start((request: IncomingMessage, response) => {
      void (async () => {
        const body: unknown = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
        const originalUrl = request.url;
        await answer(Object.assign(request, { body, originalUrl, url: '/session', user: 'mona' }), response);
      })();
    });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${parsing.url}/chat/session`, { method: 'POST', headers, body: '{}' });
    expect(await response.json()).toMatchObject({ pass: expect.any(String) });
    await parsing.close();
  });

  it.each([
    [{ serviceUrl: 'agents.example.com' }, /serviceUrl/],
    [{ apiKey: '' }, /apiKey/],
    [{ assistantId: '' }, /assistantId/],
    [{ basePath: 'chat' }, /basePath/],
    [{ secret: 'short' }, /secret/],
    [{ allowedOrigins: ['https://shop.test/'] }, /allowedOrigins/],
    [{ visitor: undefined }, /visitor/],
  ])('refuses the option %j', (wrong, message) => {
    expect(() => createWidgetHandler(options(wrong))).toThrow(message);
  });

  it('had nothing to report', () => {
    expect(problems).toEqual([]);
  });
});
