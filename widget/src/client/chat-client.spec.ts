import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ChatAnswer,
  frame,
  json,
  ScriptedChatService,
  stream,
} from '../../../test/support/scripted-chat-service.js';
import { ChatClient } from './chat-client.js';
import type { ChatFailure } from './chat-state.js';
import type { ChatOptions, SessionCredentials, SessionOptions } from './options.js';
import type { Seams } from './seams.js';

let service: ScriptedChatService;
const RUNS = 'POST /v1/threads/t-1/runs/stream';
const MESSAGES = 'GET /v1/threads/t-1/messages';
const ALLOWED = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'host',
  'pragma',
  'sec-fetch-mode',
  'user-agent',
];

const message = (id: string, role: string, content: string, runId: string | null, more: object = {}) => ({
  ...{
    id,
    thread_id: 't-1',
    role,
    content,
    attachments: [],
    createdAt: '',
    runId,
    status: 'completed',
    components: [],
    reactions: {},
  },
  ...more,
});

/** All events of one reply, as sent by the service. */
const EVENTS = [
  { type: 'RUN_STARTED', threadId: 't-1', runId: 'r-1' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm-2', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-2', delta: 'Grüße, ' },
  { type: 'TOOL_CALL_START', toolCallId: 'c-1', toolCallName: 'look_up' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c-1', delta: '{"a":' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c-1', delta: '1}' },
  { type: 'TOOL_CALL_RESULT', toolCallId: 'c-1', content: 'found' },
  { type: 'SOMETHING_NEW', value: 1 },
  { type: 'CUSTOM', name: 'component', value: { id: 'x', component: 'confirm', props: {}, fallback: 'Sure?' } },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-2', delta: '🚲!' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm-2' },
  { type: 'RUN_FINISHED', threadId: 't-1', runId: 'r-1', outcome: { type: 'success' } },
].map((event, index) => frame(index + 1, event));
const WHOLE = EVENTS.join('');

beforeAll(async () => {
  service = await ScriptedChatService.start();
});
afterAll(() => service.close());
beforeEach(() => {
  service.requests.length = 0;
});

class Tab implements Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  readonly items = new Map<string, string>();
  getItem = (key: string): string | null => this.items.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.items.set(key, value);
  removeItem = (key: string): void => void this.items.delete(key);
}

interface World {
  readonly client: ChatClient;
  readonly slept: number[];
  readonly failures: ChatFailure[];
  readonly asked: object[];
}

function world({
  tab = new Tab(),
  options = {},
  seams = {},
}: { tab?: Tab; options?: Partial<SessionOptions>; seams?: Partial<Seams> } = {}): World {
  const slept: number[] = [];
  const asked: object[] = [];
  let now = 0;
  const credentials = (request: object): Promise<SessionCredentials> => {
    asked.push(request);
    return Promise.resolve({
      pass: `pass-${asked.length}`,
      threadId: 't-1',
      sessionId: 's-1',
      expiresIn: 900,
      resumeToken: 'rt',
    });
  };
  const client = new ChatClient(
    { mode: 'session', credentials, baseUrl: service.url, ...options },
    {
      storage: tab,
      location: null,
      random: () => 0.5,
      monotonic: () => now,
      // Only sleeping moves the clock, so the limit of 45 s does not expire while events are sent.
      sleep: (ms, signal) => {
        if (ms >= 40_000 && ms <= 45_000)
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
        slept.push(ms);
        now += ms;
        return Promise.resolve();
      },
      ...seams,
    },
  );
  const failures: ChatFailure[] = [];
  client.onSessionFailed((failure) => failures.push(failure));
  return { client, slept, failures, asked };
}

const said = ({ state }: ChatClient) => state.messages.map(({ role, text, status }) => [role, text, status]);
const WHOLE_REPLY = [
  ['user', 'Hi', 'completed'],
  ['assistant', 'Grüße, 🚲!', 'completed'],
];

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
    'say a life that can be one, and not %p',
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
      json(200, { pass: 'p', threadId: 't-1', sessionId: 's', expiresIn: 9 }),
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

describe('a message', () => {
  it('gets a streamed reply, with only the headers that the service allows', async () => {
    const { client } = world();
    service.next(RUNS, stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual(WHOLE_REPLY);
    expect(client.state.messages[1]).toMatchObject({
      id: 'm-2',
      tools: [{ name: 'look_up', input: '{"a":1}', output: 'found', status: 'completed' }],
      components: [{ component: 'confirm' }],
    });
    expect(service.sent(RUNS)).toEqual([{ message: { role: 'user', content: 'Hi' }, widget: { version: '1.0.0' } }]);
    for (const { headers } of service.requests)
      expect(Object.keys(headers).filter((name) => !ALLOWED.includes(name))).toEqual([]);
  });

  it('is repeated once after a renewal of the pass', async () => {
    const once = world();
    service.next(RUNS, json(401, { code: 'pass_expired' }), stream(WHOLE));
    await once.client.start();
    await once.client.send('Hi');
    expect(said(once.client)).toEqual(WHOLE_REPLY);
    expect(once.asked).toEqual([{}, { resumeToken: 'rt' }]);
    const twice = world();
    service.next(RUNS, json(401, { code: 'pass_expired' }), json(401, { code: 'pass_expired' }));
    await twice.client.start();
    await twice.client.send('Hi');
    expect(twice.client.state.status).toBe('failed');
    expect(twice.failures).toMatchObject([{ code: 'pass_expired', terminal: true }]);
    expect(twice.asked).toHaveLength(2);
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['99999999999', 3_600_000],
    ['-1', 5_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 5_000],
  ])('is repeated after Retry-After (%s), at most an hour', async (told, waited) => {
    const { client, slept } = world();
    service.next(RUNS, json(429, { code: 'rate_limited' }, { 'retry-after': told }), stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(slept).toEqual([waited]);
    expect(said(client)).toEqual(WHOLE_REPLY);
  });

  it.each([
    [429, 'session_turn_cap_exhausted'],
    [401, 'pass_invalid'],
    [403, 'forbidden_for_session_pass'],
    [404, 'not_found'],
  ])('with a final refusal (%i %s) ends the session, and is reported once', async (status, code) => {
    const { client, failures, slept } = world();
    service.next(RUNS, json(status, { code, message: 'No.' }));
    await client.start();
    await client.send('Hi');
    expect(client.state).toMatchObject({ status: 'failed', failure: { code, terminal: true } });
    expect(failures).toHaveLength(1);
    expect(slept).toEqual([]);
    await client.send('Hi again');
    expect(service.sent(RUNS)).toHaveLength(1);
  });

  it('that the service refuses (422) can be changed, and the next one works', async () => {
    const { client } = world();
    service.next(RUNS, json(422, { error: 'unprocessable_entity', message: 'No key.' }), stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(client.state).toMatchObject({ status: 'ready', failure: { code: 'unprocessable_entity', terminal: false } });
    await client.retry(client.state.messages[0]!.key);
    expect(said(client)).toEqual(WHOLE_REPLY);
  });

  const lost: ChatAnswer = (response) => void response.destroy();

  it('whose response was lost continues if the service has stored it', async () => {
    const { client } = world();
    service.next(RUNS, lost, stream(WHOLE));
    service.next(MESSAGES, json(200, { messages: [message('m-1', 'user', 'Hi', 'r-1')], truncated: false }));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual(WHOLE_REPLY);
    expect(service.sent(RUNS)[1]).toEqual({ rejoin: { runId: 'r-1', startingAfter: 0 } });
  });

  it('whose response was lost is not repeated: if the service has not stored it, the visitor decides', async () => {
    const { client } = world();
    service.next(RUNS, lost);
    service.next(MESSAGES, json(200, { messages: [], truncated: false }));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual([['user', 'Hi', 'unsent']]);
    expect(service.sent(RUNS)).toHaveLength(1);
    service.next(RUNS, stream(WHOLE));
    await client.retry(client.state.messages[0]!.key);
    expect(said(client)).toEqual(WHOLE_REPLY);
  });
});

describe('a stream that breaks', () => {
  it.each(EVENTS.slice(1).map((_event, index) => index + 1))(
    'after event %i is joined after it, without gap or repeat',
    async (seen) => {
      const { client } = world();
      service.next(RUNS, stream(EVENTS.slice(0, seen).join(''), { breaks: true }), stream(EVENTS.slice(seen).join('')));
      await client.start();
      await client.send('Hi');
      expect(said(client)).toEqual(WHOLE_REPLY);
      expect(service.sent(RUNS)[1]).toEqual({ rejoin: { runId: 'r-1', startingAfter: seen } });
    },
  );

  it('within an event delivers that event once, and skips repeated events', async () => {
    const { client } = world();
    const cut = EVENTS[0]!.length + EVENTS[1]!.length + 20;
    service.next(RUNS, stream(WHOLE.slice(0, cut), { breaks: true }), stream(''), stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual(WHOLE_REPLY);
  });

  it('and whose events have expired shows the stored reply', async () => {
    const { client } = world();
    service.next(RUNS, stream(EVENTS.slice(0, 3).join(''), { breaks: true }), json(410, { error: 'gone' }));
    const stored = [message('m-1', 'user', 'Hi', 'r-1'), message('m-2', 'assistant', 'All of it.', 'r-1')];
    service.next(MESSAGES, json(200, { messages: stored, truncated: false }));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual([
      ['user', 'Hi', 'completed'],
      ['assistant', 'All of it.', 'completed'],
    ]);
  });

  it('and is invalid keeps the received part of the reply', async () => {
    const { client } = world();
    service.next(RUNS, stream(`${EVENTS.slice(0, 3).join('')}id: 4\ndata: {nonsense\n\n`));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual([
      ['user', 'Hi', 'completed'],
      ['assistant', 'Grüße, ', 'incomplete'],
    ]);
    expect(client.state).toMatchObject({ status: 'ready', failure: { code: 'internal' } });
  });

  it('with an error of the run keeps the received part, and the next message works', async () => {
    const { client } = world();
    const failed = frame(4, { type: 'RUN_ERROR', message: 'Too slow.', code: 'run_timeout' });
    service.next(RUNS, stream(EVENTS.slice(0, 3).join('') + failed), stream(WHOLE.replaceAll('r-1', 'r-2')));
    await client.start();
    await client.send('Hi');
    expect(client.state).toMatchObject({ status: 'ready', failure: { code: 'run_timeout', terminal: false } });
    await client.send('Again');
    expect(client.state.failure).toBeNull();
    expect(said(client).at(-1)).toEqual(WHOLE_REPLY[1]);
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
    expect(after.asked).toEqual([]);
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
    expect(after.asked).toEqual([{}]);
  });

  it('ignores invalid entries of other scripts', async () => {
    const tab = new Tab();
    for (const left of ['{', 'null', '{"version":1,"threadId":7}', '{"version":2,"threadId":"t-9"}', '[]']) {
      tab.items.set('agent-chat:session:default', left);
      const { client, asked } = world({ tab });
      await client.start();
      expect(asked).toEqual([{}]);
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
