import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { loadWidgetServer } from '../../support/widget-server.js';

const { createWidgetHandler } = await loadWidgetServer();
const SITE = 'https://shop.test';
const KEY = 'ak_the_key_that_nobody_sees';
const AGENT = newId();
const THREAD = newId();
const problems: Error[] = [];
const sent: { url: string; body: string }[] = [];

const handlerOf = (more: object = {}) =>
  createWidgetHandler({
    ...{ serviceUrl: 'https://agents.test', apiKey: KEY, assistantId: AGENT, basePath: '/chat' },
    visitor: () => ({ id: 'anna' }),
    onError: (error) => {
      problems.push(error);
    },
    fetch: (url, { body }) => {
      sent.push({ url, body: typeof body === 'string' ? body : '' });
      const session = { id: newId(), thread_id: THREAD };
      const thread = { id: THREAD, assistant_id: AGENT, title: 'Title', lastMessageAt: '2026-01-01T00:00:00.000Z' };
      return Promise.resolve(Response.json({ ...thread, session, pass: { token: 'p', expiresInSeconds: 900 } }));
    },
    ...more,
  });

async function ask(method: string, path: string, handler = handlerOf(), headers: Record<string, string> = {}) {
  const answer = await handler(
    new Request(`${SITE}/chat${path}`, {
      ...{ method, headers: { 'content-type': 'application/json', origin: SITE, ...headers } },
      ...(method === 'POST' ? { body: '{}' } : {}),
    }),
  );
  const text = await answer.text();
  return { status: answer.status, text, headers: answer.headers };
}

beforeEach(() => {
  problems.length = 0;
  sent.length = 0;
});

describe('an option', () => {
  const names = ['jsonBytes', 'uploadBytes', 'bodyTimeoutMs', 'serviceTimeoutMs', 'concurrentUploads'];
  it.each(names)('limits.%s is a positive whole number', (name) => {
    for (const wrong of [NaN, Infinity, 0, -1, 1.5, '5', null, 2 ** 53, {}]) {
      const create = () => handlerOf({ limits: { [name]: wrong } });
      expect(create).toThrow(TypeError);
      expect(create).toThrow(`limits.${name}`);
    }
    expect(() => handlerOf({ limits: { [name]: 1 } })).not.toThrow();
  });

  it('limits.bodyTimeoutMs and serviceTimeoutMs are no longer than a timer can be', () => {
    for (const name of ['bodyTimeoutMs', 'serviceTimeoutMs']) {
      expect(() => handlerOf({ limits: { [name]: 1e10 } })).toThrow(`limits.${name}`);
      expect(() => handlerOf({ limits: { [name]: 2 ** 31 - 1 } })).not.toThrow();
    }
  });

  it('limits that are undefined are the default ones', async () => {
    const limits = Object.fromEntries(names.map((name) => [name, undefined]));
    expect((await ask('POST', '/session', handlerOf({ limits }))).status).toBe(200);
  });

  it.each([
    ['apiKey', 'ak_secret\n'],
    ['apiKey', 'ak_sec\r\nret: secret'],
    ['apiKey', 'ak_ secret'],
    ['apiKey', 'ak_secret\u0000'],
    ['apiKey', 'ak_secrét'],
    ['serviceUrl', 'https://user:secret@agents.test'],
    ['serviceUrl', 'https://secret@agents.test'],
    ['serviceUrl', 'https://agents.test?secret'],
    ['serviceUrl', 'https://agents.test/?'],
    ['serviceUrl', 'https://agents.test/#secret'],
    ['serviceUrl', 'https://agents.test\n'],
    ['serviceUrl', 'file:///secret'],
    ['assistantId', 'secret'],
    ['assistantId', undefined],
    ['secret', 'secret'],
    ['secret', 42],
    ['secret', { length: 99 }],
    ['secret', Array<string>(40).fill('a')],
  ])('%s is not %j, and the error does not repeat it', (name, value) => {
    let error: unknown;
    try {
      handlerOf({ [name]: value });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(TypeError);
    const { message } = error as Error;
    expect(message).toContain(name);
    if (typeof value === 'string' && value.length > 6) expect(message).not.toContain(value);
    expect(message).not.toMatch(/ak_sec|user:/);
  });

  it('assistantId is compared in lower case', async () => {
    await ask('POST', '/session', handlerOf({ assistantId: AGENT.toUpperCase() }));
    expect(JSON.parse(sent[0]!.body)).toMatchObject({ assistant_id: AGENT });
  });

  it('onError may be asynchronous, and may reject', async () => {
    const written = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const onError = () => Promise.reject(new Error(`no log for ${KEY}`));
    const handler = handlerOf({ visitor: () => ({ id: '' }), onError });
    expect((await ask('POST', '/session', handler)).status).toBe(500);
    await new Promise((resolve) => setImmediate(resolve));
    expect([unhandled.mock.calls, written.mock.calls.length]).toEqual([[], 1]);
    expect((written.mock.calls[0]![0] as Error).message).toBe('no log for …');
    process.off('unhandledRejection', unhandled);
    written.mockRestore();
  });

  it('fetch may fail with the key in its error, which onError does not get', async () => {
    const inner = Object.assign(new Error(`header Bearer ${KEY}`), { code: 'ERR_HEADER', request: { key: KEY } });
    const fetch = () => Promise.reject(new Error(`Bearer ${KEY} failed`, { cause: inner }));
    expect((await ask('POST', '/session', handlerOf({ fetch }))).status).toBe(503);
    const cause = problems[0]!.cause as Error;
    const causes = [cause, cause.cause] as Error[];
    expect(causes.map(({ message }) => message)).toEqual(['Bearer … failed', 'header Bearer …']);
    const all = causes.flatMap((each) => [each.stack, JSON.stringify(each), ...Object.values(each)]).join();
    expect(all).not.toContain(KEY);
    expect(causes[1]).toMatchObject({ code: 'ERR_HEADER' });
  });
});

describe('a visitor', () => {
  const context = (userContext: unknown) => ({ id: 'anna', userContext });
  it.each([
    ['undefined', undefined],
    ['a text', 'anna'],
    ['a list', ['anna']],
    ['an id with NUL', { id: 'a\u0000' }],
    ['an id with half of a pair', { id: 'a\ud800' }],
    ['an e-mail address', { id: 'anna@shop.test' }],
    ['NaN', context({ a: NaN })],
    ['Infinity', context({ a: Infinity })],
    ['a long text', context({ a: 'x'.repeat(10_001) })],
    ['a text with NUL', context({ a: '\u0000' })],
    ['a text with half of a pair', context({ a: '\udc00' })],
    ['an empty name', context({ '': 1 })],
    ['a long name', context({ ['x'.repeat(256)]: 1 })],
    ['a name with NUL', context({ '\u0000': 1 })],
    ['a name with half of a pair', context({ '\ud800': 1 })],
    ['the name __proto__', context(JSON.parse('{"__proto__": 1}'))],
    ['a Map', context(new Map([['a', 1]]))],
    ['a Date', context(new Date(0))],
    ['null for facts', context(null)],
    ['undefined for a fact', context({ a: undefined })],
  ])('that is or has %s is a mistake of the operator in both modes', async (_what, visitor) => {
    const handler = handlerOf({ visitor: () => visitor });
    for (const path of ['/session', '/v1/threads']) {
      problems.length = 0;
      expect((await ask('POST', path, handler)).status).toBe(500);
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^visitor returned an invalid visitor: \w/),
      ]);
      expect(problems[0]!.message).not.toContain('anna@');
    }
    expect(sent).toEqual([]);
  });

  it('may have what the service takes', async () => {
    const userContext = { ['😀'.repeat(255)]: '😀'.repeat(10_000), a: true, b: -1.5, c: '' };
    const handler = handlerOf({ visitor: () => ({ id: '@anna', userContext }) });
    expect((await ask('POST', '/session', handler)).status).toBe(200);
    expect(problems).toEqual([]);
  });
});

describe('a store', () => {
  it.each([
    ['null', null],
    ['an object', {}],
    ['a text', 'a'],
    ['undefined', undefined],
    ['wrong entries', [null, {}, { threadId: null }, 'a', { threadId: '../x' }, [], 42]],
  ])('that lists %s is reported, and breaks no route', async (_what, listed) => {
    const conversations = { list: () => Promise.resolve(listed), add: () => Promise.resolve() };
    const handler = handlerOf({ conversations });
    expect(await ask('GET', '/conversations', handler)).toMatchObject({ status: 200, text: '{"conversations":[]}' });
    expect(problems).toMatchObject([{ message: expect.stringContaining('conversations.list') }]);
    expect((await ask('GET', `/v1/threads/${newId()}/messages`, handler)).status).toBe(404);
    expect(problems).toHaveLength(2);
  });

  it('that lists a wrong entry has the others, and a wrong title comes from the service', async () => {
    const listed = [null, { threadId: THREAD.toUpperCase(), title: 42, updatedAt: new Date(0) }];
    const handler = handlerOf({ conversations: { list: () => Promise.resolve(listed), add: () => Promise.resolve() } });
    const { text } = await ask('GET', '/conversations', handler);
    const expected = [{ threadId: THREAD, title: 'Title', updatedAt: '2026-01-01T00:00:00.000Z' }];
    expect(JSON.parse(text)).toEqual({ conversations: expected });
    expect((await ask('GET', `/v1/threads/${THREAD}/messages`, handler)).status).toBe(200);
  });

  it('gets a conversation once, however often its request is repeated', async () => {
    const add = jest.fn(() => Promise.resolve());
    const handler = handlerOf({ conversations: { list: () => Promise.resolve([]), add } });
    for (let time = 0; time < 3; time += 1) {
      expect((await ask('POST', '/v1/threads', handler, { 'idempotency-key': 'k' })).status).toBe(200);
    }
    expect(add.mock.calls).toEqual([['anna', THREAD]]);
  });
});

describe('a method that a route does not take', () => {
  it('is refused before the origin is judged', async () => {
    for (const handler of [handlerOf(), handlerOf({ allowedOrigins: ['https://www.shop.test'] })]) {
      for (const origin of ['https://evil.test', SITE]) {
        const { status, headers } = await ask('DELETE', '/session', handler, { origin });
        expect([status, headers.get('allow')]).toEqual([405, 'POST']);
      }
      expect((await ask('POST', '/session', handler, { origin: 'https://evil.test' })).status).toBe(403);
    }
  });
});
