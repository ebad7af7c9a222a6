import { describe, expect, it } from '@jest/globals';
import { frame, json, stream } from '../../../test/support/scripted-chat-service.js';
import { ChatClient } from './chat-client.js';
import {
  EVENTS,
  message,
  MESSAGES,
  RUNS,
  said,
  service,
  Tab,
  useChatService,
  WHOLE,
  WHOLE_REPLY,
  world,
} from './chat-client.support.js';
import type { ChatOptions } from './options.js';
import type { Seams } from './seams.js';

useChatService();

describe('options', () => {
  const build =
    (options: object, location: Seams['location'] = null) =>
    () =>
      new ChatClient(options as ChatOptions, { location });
  const page = { protocol: 'https:', hostname: 'shop.example', origin: 'https://shop.example' };

  it('with an API key in session mode fail at construction', () => {
    expect(build({ mode: 'session', credentials: '/session', apiKey: 'ak_x' })).toThrow(
      /apiKey must not be given in session mode/,
    );
    expect(build({ mode: 'proxy', baseUrl: '/', assistantId: 'a', apiKey: 'ak_x' })).toThrow(/apiKey/);
  });

  it('that are invalid name what is missing', () => {
    expect(build({ mode: 'session' })).toThrow(/credentials/);
    expect(build({ mode: 'proxy', baseUrl: 'https://shop.example/relay' })).toThrow(/assistantId/);
    expect(build({ mode: 'direct', assistantId: 'a' })).toThrow(/apiKey/);
    expect(build({ mode: 'magic' })).toThrow(/mode must be one of session, proxy, direct/);
  });

  it('of direct mode work only on local pages', () => {
    const direct = { mode: 'direct', apiKey: 'ak_x', assistantId: 'a' };
    expect(build(direct, page)).toThrow(/localhost/);
    for (const hostname of ['localhost', '127.0.0.1', '[::1]', 'app.localhost'])
      expect(build(direct, { ...page, hostname })).not.toThrow();
    expect(build(direct, { ...page, hostname: 'localhost.example' })).toThrow();
  });
});

describe('credentials', () => {
  it('that are nested are refused, with the mapping', async () => {
    const nested = { session: { id: 's', thread_id: 't' }, pass: { token: 'p', expiresInSeconds: 900 } };
    const { client, failures } = world({ options: { credentials: () => Promise.resolve(nested as never) } });
    await client.start();
    expect(client.state).toMatchObject({
      status: 'failed',
      failure: { code: 'credentials', message: expect.stringContaining('pass.token') },
    });
    expect(failures).toHaveLength(1);
  });

  it.each([0, -5, Number.NaN, Infinity, 1_795_521_597, '900', null])(
    'must have an expiresIn that is a possible lifetime, not %p',
    async (expiresIn) => {
      const given = { pass: 'p', threadId: 't-1', sessionId: 's', expiresIn };
      const { client, failures, slept } = world({ options: { credentials: () => Promise.resolve(given as never) } });
      await client.start();
      expect(client.state.failure).toMatchObject({
        code: 'credentials',
        message: expect.stringContaining('expiresIn'),
        terminal: true,
      });
      expect([failures.length, slept.length]).toEqual([1, 0]);
    },
  );

  it('of an endpoint are requested by POST; a refusal is final, a failure is repeated', async () => {
    service.next(
      'POST /session',
      json(503, {}),
      json(200, { pass: 'p', threadId: 't-1', sessionId: 's', expiresIn: 9, isNew: true }),
    );
    const good = world({ options: { credentials: `${service.url}/session` } });
    await good.client.start();
    expect(good.client.state.status).toBe('ready');
    expect(good.slept).toHaveLength(1);
    service.next('POST /session', json(403, { message: 'Sign in first.' }));
    const bad = world({ options: { credentials: `${service.url}/session` } });
    await bad.client.start();
    expect(bad.client.state.failure).toEqual({ code: 'credentials', message: 'Sign in first.', terminal: true });
  });
});

describe('a page that is loaded again', () => {
  it('during a reply continues it, with the same pass', async () => {
    const tab = new Tab();
    const before = world({ tab });
    service.next(RUNS, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENTS.slice(0, 3).join(''));
    });
    await before.client.start();
    void before.client.send('Hi');
    while (before.client.state.messages[1]?.text !== 'Grüße, ') await new Promise((resolve) => setImmediate(resolve));
    before.client.close();
    const after = world({ tab });
    service.next(MESSAGES, json(200, { messages: [message('m-1', 'user', 'Hi', 'r-1')], truncated: false }));
    service.next(RUNS, stream(WHOLE));
    await after.client.start();
    expect(said(after.client)).toEqual(WHOLE_REPLY);
    expect(after.requests).toEqual([]);
    expect(service.sent(RUNS).at(-1)).toEqual({ rejoin: { runId: 'r-1', startingAfter: 0 } });
  });

  it('whose conversation no longer exists starts a new one', async () => {
    const tab = new Tab();
    const before = world({ tab });
    await before.client.start();
    const after = world({ tab });
    service.next(MESSAGES, json(404, { error: 'not_found' }));
    await after.client.start();
    expect(after.client.state.status).toBe('ready');
    expect(after.requests).toEqual([{}]);
  });

  it('ignores invalid entries of other scripts', async () => {
    const tab = new Tab();
    for (const left of ['{', 'null', '{"version":1,"threadId":7}', '{"version":2,"threadId":"t-9"}', '[]']) {
      tab.items.set('agent-chat:session:default', left);
      const { client, requests } = world({ tab });
      await client.start();
      expect(requests).toEqual([{}]);
      expect(client.state.status).toBe('ready');
      tab.items.clear();
    }
  });
});

describe('approvals', () => {
  it('are answered together, and shown again if the answers were lost', async () => {
    const { client } = world();
    const interrupts = [
      { id: 'i-1', reason: 'tool_approval', toolCallId: 'c-1', metadata: { tool: 'pay', input: { amount: 3 } } },
      { id: 'i-2', reason: 'tool_approval', toolCallId: 'c-2', metadata: { tool: 'ship', input: {} } },
    ];
    const asks = frame(2, {
      type: 'RUN_FINISHED',
      runId: 'r-1',
      threadId: 't-1',
      outcome: { type: 'interrupt', interrupts },
    });
    service.next(
      RUNS,
      stream(EVENTS[0]! + asks),
      json(503, { message: 'Later.' }),
      stream(WHOLE.replaceAll('r-1', 'r-2')),
    );
    await client.start();
    await client.send('Hi');
    expect(client.state).toMatchObject({
      status: 'awaiting_approval',
      approvals: [{ tool: 'pay', input: { amount: 3 } }, { tool: 'ship' }],
    });
    const decisions = new Map([
      ['i-1', { approved: true }],
      ['i-2', { approved: false, reason: 'Not yet' }],
    ]);
    await client.answer(decisions);
    expect(client.state).toMatchObject({ status: 'awaiting_approval', approvals: { length: 2 } });
    await client.answer(decisions);
    expect(service.sent(RUNS).at(-1)).toMatchObject({
      resume: [
        { interruptId: 'i-1', status: 'resolved', payload: { approved: true } },
        { interruptId: 'i-2', status: 'resolved', payload: { approved: false, reason: 'Not yet' } },
      ],
    });
    expect(said(client).at(-1)).toEqual(WHOLE_REPLY[1]);
  });
});

describe('the relay of a customer', () => {
  it('gets threads, files, suggestions and thumbs, with the headers of the page and no credential', async () => {
    const client = new ChatClient(
      {
        mode: 'proxy',
        baseUrl: `${service.url}/relay/`,
        assistantId: 'a-1',
        headers: { 'x-csrf': '1' },
        userContext: { plan: 'pro' },
      },
      { storage: null, location: null },
    );
    service.next('POST /relay/v1/threads', json(200, { id: 't-1' }));
    service.next('POST /relay/v1/threads/t-1/runs/stream', stream(WHOLE));
    service.next('POST /relay/v1/chat/suggestions', json(200, { suggestions: ['More?'] }));
    service.next('PUT /relay/v1/threads/t-1/messages/m-2/reaction', json(200, {}));
    await client.start();
    await client.send('Hi', [{ name: 'a.txt', url: 'https://files.example/a', contentType: 'text/plain' }]);
    while (client.state.suggestions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.react(client.state.messages[1]!.key, 'thumbs_up');
    expect(client.state.messages[1]?.reaction).toBe('thumbs_up');
    expect(service.sent('POST /relay/v1/threads/t-1/runs/stream')[0]).toMatchObject({
      message: { attachments: [{ name: 'a.txt' }] },
      config: { userContext: { plan: 'pro' } },
    });
    for (const { headers } of service.requests)
      expect([headers.authorization, headers['x-csrf']]).toEqual([undefined, '1']);
  });
});
