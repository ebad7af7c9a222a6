import { describe, expect, it } from '@jest/globals';
import { type ChatAnswer, frame, json, stream } from '../../../test/support/scripted-chat-service.js';
import {
  EVENTS,
  message,
  MESSAGES,
  RUNS,
  said,
  service,
  until,
  useChatService,
  WHOLE,
  WHOLE_REPLY,
  world,
} from './chat-client.support.js';
import { VERSION } from './version.js';

useChatService();

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

describe('a message', () => {
  it('gets a streamed reply, with only the headers that the service allows', async () => {
    const { client } = world();
    service.next(RUNS, stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(said(client)).toEqual(WHOLE_REPLY);
    expect(client.state.messages[1]).toMatchObject({
      id: 'm-2',
      parts: [
        { kind: 'text', text: 'Grüße, ' },
        { kind: 'tool', tool: { name: 'look_up', input: '{"a":1}', output: 'found', status: 'completed' } },
        { kind: 'component', component: { component: 'confirm' } },
        { kind: 'text', text: '🚲!' },
      ],
    });
    expect(service.sent(RUNS)).toEqual([{ message: { role: 'user', content: 'Hi' }, widget: { version: VERSION } }]);
    for (const { headers } of service.requests)
      expect(Object.keys(headers).filter((name) => !ALLOWED.includes(name))).toEqual([]);
  });

  it('is repeated once after a renewal of the pass', async () => {
    const once = world();
    service.next(RUNS, json(401, { code: 'pass_expired' }), stream(WHOLE));
    await once.client.start();
    await once.client.send('Hi');
    expect(said(once.client)).toEqual(WHOLE_REPLY);
    expect(once.requests).toEqual([{}, { resumeToken: 'rt' }]);
    const twice = world();
    service.next(RUNS, json(401, { code: 'pass_expired' }), json(401, { code: 'pass_expired' }));
    await twice.client.start();
    await twice.client.send('Hi');
    expect(twice.client.state.status).toBe('failed');
    expect(twice.failures).toMatchObject([{ code: 'pass_expired', terminal: true }]);
    expect(twice.requests).toHaveLength(2);
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['99999999999', 3_600_000],
    ['-1', 5_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 5_000],
  ])('is repeated after Retry-After (%s), at most an hour', async (retryAfter, waited) => {
    const { client, slept } = world();
    service.next(RUNS, json(429, { code: 'rate_limited' }, { 'retry-after': retryAfter }), stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(slept).toEqual([waited]);
    expect(said(client)).toEqual(WHOLE_REPLY);
  });

  it('that still waits when the visitor begins a new conversation does not change that one', async () => {
    const { client } = world({
      seams: {
        sleep: (_ms, signal) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      },
    });
    service.next(RUNS, json(429, { code: 'rate_limited' }, { 'retry-after': '50' }));
    await client.start();
    const sending = client.send('Hi');
    await until(() => client.state.status === 'waiting');
    await client.newConversation();
    await sending;
    expect(client.state).toMatchObject({ status: 'ready', messages: [], retryAt: null });
  });

  it('that waits is not sent once the visitor stops, and can be sent later', async () => {
    const { client, events } = world({
      seams: {
        sleep: (_ms, signal) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      },
    });
    service.next(RUNS, json(429, { code: 'rate_limited' }, { 'retry-after': '600' }), stream(WHOLE));
    await client.start();
    const sending = client.send('Hi');
    await until(() => client.state.status === 'waiting');
    await client.stop();
    await sending;
    expect(client.state).toMatchObject({ status: 'ready', failure: null, retryAt: null });
    expect(said(client)).toEqual([['user', 'Hi', 'unsent']]);
    expect(events).toEqual([]);
    await client.retry(client.state.messages[0]!.key);
    expect(said(client)[1]?.[2]).toBe('completed');
  });

  it('that a proxy before the service answers with 404 can be sent again', async () => {
    const { client, failures } = world();
    service.next(RUNS, json(404, {}));
    await client.start();
    await client.send('Hi');
    expect(client.state).toMatchObject({ status: 'ready', failure: { code: 'http_404', terminal: false } });
    expect([said(client), failures]).toEqual([[['user', 'Hi', 'unsent']], []]);
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
