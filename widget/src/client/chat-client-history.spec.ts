import { describe, expect, it } from '@jest/globals';
import { json, stream } from '../../../test/support/scripted-chat-service.js';
import { ChatClient } from './chat-client.js';
import {
  message,
  MESSAGES,
  RESUMED,
  RUNS,
  said,
  service,
  Tab,
  useChatService,
  WHOLE,
  WHOLE_REPLY,
  world,
} from './chat-client.support.js';
import type { CredentialsRequest, SessionCredentials } from './options.js';

useChatService();

const given = (more: Partial<SessionCredentials> = {}): SessionCredentials => ({
  ...{ pass: 'p', threadId: 't-1', sessionId: 's-1', expiresIn: 900, isNew: true },
  ...more,
});
const OLD = [message('m-1', 'user', 'Hi', 'r-1'), message('m-2', 'assistant', 'Grüße, 🚲!', 'r-1')];
const listed = (messages: object[]) => json(200, { messages, truncated: false });
const ENDPOINT = 'POST /session';

describe("a conversation that the customer's server resumes", () => {
  it('shows its messages, and follows the reply to the last one', async () => {
    const whole = world({ options: RESUMED });
    service.next(MESSAGES, listed(OLD));
    await whole.client.start();
    expect(said(whole.client)).toEqual(WHOLE_REPLY);
    expect([whole.client.state.threadId, whole.events]).toEqual(['t-1', []]);
    const open = world({ options: RESUMED });
    service.next(MESSAGES, listed(OLD.slice(0, 1)));
    service.next(RUNS, stream(WHOLE));
    await open.client.start();
    expect(said(open.client)).toEqual(WHOLE_REPLY);
    expect(open.events.map(({ type }) => type)).toEqual(['replyFinished']);
  });

  it('may be empty, and is not read when the credentials say that it is new', async () => {
    const empty = world({ options: RESUMED });
    service.next(MESSAGES, listed([]));
    await empty.client.start();
    expect(empty.client.state).toMatchObject({ status: 'ready', messages: [], failure: null });
    service.requests.length = 0;
    await world().client.start();
    expect(service.requests).toEqual([]);
  });
});

describe("a customer's endpoint", () => {
  const options = { credentials: '/session' };
  const credentials = () => ({ credentials: `${service.url}/session` });

  it('that is busy is asked again after its Retry-After, at most a minute, which the visitor sees', async () => {
    const { client, slept } = world({ options: credentials() });
    const statuses = new Set<string>();
    client.subscribe(() => statuses.add(client.state.status));
    service.next(
      ENDPOINT,
      json(429, {}, { 'retry-after': '7' }),
      json(503, {}, { 'retry-after': '9999' }),
      json(408, {}),
      json(200, given()),
    );
    await client.start();
    expect(slept).toEqual([7_000, 60_000, 2_000]);
    expect([...statuses]).toContain('waiting');
    expect(client.state).toMatchObject({ status: 'ready', retryAt: null });
  });

  it('that stays down does not end the conversation: the visitor can try again', async () => {
    const { client, failures, events } = world({ options: credentials() });
    const busy = json(429, { message: 'Too many.' });
    service.next(ENDPOINT, busy, busy, busy, busy);
    await client.start();
    expect(client.state).toMatchObject({ status: 'failed', failure: { code: 'unavailable', terminal: false } });
    expect([events.map(({ type }) => type), failures]).toEqual([['chatError'], []]);
    service.next(ENDPOINT, json(200, given()));
    await client.start();
    expect(client.state.status).toBe('ready');
  });

  it('that fails during a conversation leaves the message unsent, and the next try works', async () => {
    let isDown = false;
    let now = 0;
    const { client } = world({
      options: {
        credentials: () => {
          if (isDown) throw new Error('Offline');
          return Promise.resolve(given({ resumeToken: 'rt' }));
        },
      },
      seams: { monotonic: () => now },
    });
    await client.start();
    isDown = true;
    now = 901_000;
    await client.send('Hi');
    expect(said(client)).toEqual([['user', 'Hi', 'unsent']]);
    expect(client.state).toMatchObject({ status: 'ready', failure: { code: 'unavailable', terminal: false } });
    isDown = false;
    service.next(RUNS, stream(WHOLE));
    await client.retry(client.state.messages[0]!.key);
    expect(said(client)).toEqual(WHOLE_REPLY);
  });

  it('that never answers is given up after 30 s', async () => {
    const slept: number[] = [];
    const { client } = world({
      options,
      seams: {
        fetch: (_url, { signal }) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
        sleep: (ms) => {
          slept.push(ms);
          return Promise.resolve();
        },
        random: () => 0.5,
      },
    });
    await client.start();
    expect(slept).toEqual([30_000, 500, 30_000, 1_000, 30_000, 2_000, 30_000]);
    expect(client.state.failure).toMatchObject({ code: 'unavailable' });
  });
});

describe('earlier conversations', () => {
  const CONVERSATIONS = 'GET /conversations';

  it('are listed by the endpoint of the customer, without entries that are none', async () => {
    const { client } = world({ options: { conversations: `${service.url}/conversations` } });
    const entry = { threadId: 't-2', title: 'Order', updatedAt: '2026-11-28T10:00:00.000Z' };
    const others = Array.from({ length: 80 }, (_each, index) => ({ threadId: `t-${index}`, title: 7, updatedAt: 'x' }));
    service.next(CONVERSATIONS, json(200, { conversations: [entry, null, { threadId: 7 }, ...others] }));
    const list = await client.listConversations();
    expect(list.slice(0, 2)).toEqual([entry, { threadId: 't-0', title: null, updatedAt: null }]);
    expect(list).toHaveLength(48);
    expect(client.state.can.listConversations).toBe(true);
  });

  it('that cannot be listed are a failure of that action alone', async () => {
    const { client, events } = world({ options: { conversations: `${service.url}/conversations` } });
    service.next(CONVERSATIONS, json(401, { message: 'Sign in.' }), json(200, { conversations: 'none' }));
    await expect(client.listConversations()).rejects.toMatchObject({ code: 'conversations', message: 'Sign in.' });
    await expect(client.listConversations()).rejects.toMatchObject({ code: 'conversations' });
    expect(events).toMatchObject([
      { type: 'chatError', failure: { code: 'conversations', terminal: false } },
      { type: 'chatError' },
    ]);
    expect(client.state.failure).toBeNull();
  });

  it('are opened by new credentials; what they name is shown', async () => {
    const tab = new Tab();
    const requests: CredentialsRequest[] = [];
    const { client } = world({
      tab,
      options: {
        credentials: (request) => {
          requests.push(request);
          // The customer's server decides which conversation the visitor may see.
          const isForeign = request.threadId === 't-9';
          return Promise.resolve(given({ threadId: isForeign ? 't-1' : 't-2', isNew: false, resumeToken: 'rt' }));
        },
      },
    });
    const other = message('m-7', 'user', 'Before', null);
    service.next('GET /v1/threads/t-2/messages', listed([other]), listed([other]));
    await client.start();
    service.next(MESSAGES, listed(OLD));
    await client.openConversation('t-9');
    expect(requests).toEqual([{}, { threadId: 't-9' }]);
    expect([client.state.threadId, said(client)]).toEqual(['t-1', WHOLE_REPLY]);
    await client.openConversation('t-2');
    expect([client.state.threadId, said(client)]).toEqual(['t-2', [['user', 'Before', 'completed']]]);
    expect(tab.items.get('agent-chat:session:default')).toContain('"threadId":"t-2"');
  });

  it('are opened through the relay, and one that does not exist is a failure', async () => {
    const client = new ChatClient(
      { mode: 'proxy', baseUrl: service.url, assistantId: 'a-1' },
      { storage: null, location: null },
    );
    service.next(MESSAGES, listed(OLD));
    service.next('GET /v1/threads/t-4/messages', json(404, { error: 'not_found' }));
    await client.start();
    await client.openConversation('t-1');
    expect([client.state.threadId, said(client)]).toEqual(['t-1', WHOLE_REPLY]);
    await client.openConversation('t-4');
    expect(client.state).toMatchObject({
      status: 'failed',
      messages: [],
      failure: { code: 'not_found', terminal: true },
    });
    await client.newConversation();
    expect(client.state).toMatchObject({ status: 'ready', threadId: null, failure: null });
  });
});
