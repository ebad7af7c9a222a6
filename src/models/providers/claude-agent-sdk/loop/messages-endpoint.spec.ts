import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../../test/support/manual-clock.js';
import { until } from '../../../../../test/support/until.js';
import { MAX_REQUEST_BYTES, PING_MS } from './limits.js';
import type { MessagesCall } from './messages-call.js';
import { MessagesEndpoint, newToken, promptOf } from './messages-endpoint.js';

interface Arrived {
  readonly token: string;
  readonly call: MessagesCall;
}

let clock: ManualClock;
let endpoint: MessagesEndpoint;
let url: string;
let key: string;
let arrived: Arrived[];

beforeEach(async () => {
  clock = new ManualClock();
  endpoint = new MessagesEndpoint(clock);
  url = await endpoint.open();
  arrived = [];
  key = endpoint.register((token, call) => arrived.push({ token, call }));
});
afterEach(() => endpoint.close());

const user = (content: unknown) => ({ role: 'user', content });
const bodyOf = (...messages: object[]): string =>
  JSON.stringify({ model: 'any', max_tokens: 1, stream: true, messages });
const RUN = bodyOf(user(promptOf(newToken())));

function post(body: string, { path = '/v1/messages', method = 'POST', apiKey = key } = {}): Promise<Response> {
  return fetch(`${url}${path}`, { method, headers: { 'x-api-key': apiKey }, ...(method === 'POST' && { body }) });
}

async function refusalOf(answer: Promise<Response>): Promise<readonly [number, string]> {
  const response = await answer;
  const { error } = (await response.json()) as { error: { type: string } };
  return [response.status, error.type];
}

/** Uses the endpoint as a proxy. @returns the first line of the response; empty if the connection closes */
async function proxied(lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.end(`${lines.join('\r\n')}\r\n\r\n`);
  const [first = ''] = (await text(socket).catch(() => '')).split('\r\n');
  return first;
}

async function firstArrived(): Promise<Arrived> {
  await until(() => arrived.length > 0, 'a call has come');
  return arrived[0]!;
}

describe('the endpoint of the processes', () => {
  it('listens only on the loopback interface, and only once', async () => {
    expect(new URL(url).hostname).toBe('127.0.0.1');
    expect(await endpoint.open()).toBe(url);
  });

  it('refuses an unknown, forgotten or missing key with 401', async () => {
    expect(await refusalOf(post(RUN, { apiKey: newToken() }))).toEqual([401, 'authentication_error']);
    const noKey = fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: RUN,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await refusalOf(noKey)).toEqual([401, 'authentication_error']);
    endpoint.forget(key);
    expect(await refusalOf(post(RUN))).toEqual([401, 'authentication_error']);
    expect(arrived).toEqual([]);
  });

  it.each(['/', '/v1/messages/count_tokens', '/v1/messages/batches', '/v1/models', '/v1/messages/', '/v1//messages'])(
    'refuses %s with 404',
    async (path) => {
      expect(await refusalOf(post(RUN, { path }))).toEqual([404, 'not_found_error']);
      expect(arrived).toEqual([]);
    },
  );

  it('refuses other methods with 404, and accepts a path with a query', async () => {
    expect(await refusalOf(post('', { method: 'GET' }))).toEqual([404, 'not_found_error']);
    const answer = post(RUN, { path: '/v1/messages?beta=true' });
    (await firstArrived()).call.answerWithEnd();
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['no JSON', 'Run'],
    ['no object', '[]'],
    ['no messages', '{}'],
    ['no token', bodyOf(user('Hello'))],
    ['a token that is cut off', bodyOf(user(promptOf(newToken().slice(1))))],
    ['a token within other text', bodyOf(user(`Hello ${promptOf(newToken())}`))],
    ['a token that the model said', bodyOf({ role: 'assistant', content: promptOf(newToken()) })],
  ])('refuses a body with %s with 400', async (_, body) => {
    expect(await refusalOf(post(body))).toEqual([400, 'invalid_request_error']);
    expect(arrived).toEqual([]);
  });

  it('refuses a body over the limit with 400, and accepts the largest allowed one', async () => {
    const filled = (size: number): string => RUN.padEnd(size);
    expect(await refusalOf(post(filled(MAX_REQUEST_BYTES + 1)))).toEqual([400, 'invalid_request_error']);
    expect(await refusalOf(post(filled(4 * MAX_REQUEST_BYTES)))).toEqual([400, 'invalid_request_error']);
    expect(arrived).toEqual([]);
    const answer = post(filled(MAX_REQUEST_BYTES));
    (await firstArrived()).call.answerWithEnd();
    expect((await answer).status).toBe(200);
  });

  it('refuses every connection as a proxy, even to itself', async () => {
    const { host } = new URL(url);
    for (const target of ['example.com:443', host]) {
      expect(await proxied([`CONNECT ${target} HTTP/1.1`, `host: ${target}`, `x-api-key: ${key}`])).toBe('');
    }
    expect(await proxied(['GET http://example.com/ HTTP/1.1', 'host: example.com', 'connection: close'])).toBe(
      'HTTP/1.1 401 Unauthorized',
    );
    for (const target of ['example.com', host]) {
      const lines = [
        `POST http://${target}/v1/messages HTTP/1.1`,
        `host: ${target}`,
        `x-api-key: ${key}`,
        'content-length: 0',
      ];
      expect(await proxied([...lines, 'connection: close'])).toBe('HTTP/1.1 404 Not Found');
    }
    expect(arrived).toEqual([]);
  });

  it('serves further requests after an aborted one', async () => {
    const broken = request(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-length': 1_000 },
    });
    broken.on('error', () => undefined);
    broken.write('{');
    await once(broken, 'socket');
    broken.destroy();
    expect(await refusalOf(post('{'))).toEqual([400, 'invalid_request_error']);
  });
});

describe('the run of a request', () => {
  it('is that of the last token, whatever follows it', async () => {
    const [old, newest] = [newToken(), newToken()];
    const body = bodyOf(
      user(promptOf(old)),
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      user([
        { type: 'text', text: '<system-reminder/>' },
        { type: 'text', text: promptOf(newest) },
      ]),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'any', input: {} }] },
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Made.' }]),
    );
    const answer = post(body);
    const { token, call } = await firstArrived();
    expect(token).toBe(newest);
    call.answerWithEnd();
    await answer;
  });

  it('reaches the process of the key', async () => {
    const others: string[] = [];
    const other = endpoint.register((token, call) => {
      others.push(token);
      call.answerWithEnd();
    });
    const token = newToken();
    expect(other).not.toBe(key);
    await post(bodyOf(user(promptOf(token))), { apiKey: other });
    expect([arrived, others]).toEqual([[], [token]]);
  });
});

describe('a response', () => {
  const messages = [{ role: 'user' as const, content: promptOf(newToken()) }];
  const ask = (): ReturnType<Anthropic['messages']['stream']> =>
    new Anthropic({ baseURL: url, defaultHeaders: { 'x-api-key': key }, maxRetries: 0 }).messages.stream({
      model: 'any',
      max_tokens: 1,
      messages,
    });

  it('with tool calls has tool_use blocks with their ids, and stops with tool_use', async () => {
    const stream = ask();
    (await firstArrived()).call.answerWithTools(['toolu_1', 'toolu_2']);
    const { content, stop_reason } = await stream.finalMessage();
    expect(stop_reason).toBe('tool_use');
    expect(content).toMatchObject([
      { type: 'tool_use', id: 'toolu_1', name: 'mcp__agent__call', input: {} },
      { type: 'tool_use', id: 'toolu_2', name: 'mcp__agent__call', input: {} },
    ]);
  });

  it('that ends the turn is a text, and stops with end_turn', async () => {
    const stream = ask();
    (await firstArrived()).call.answerWithEnd();
    const { content, stop_reason } = await stream.finalMessage();
    expect([content, stop_reason]).toMatchObject([[{ type: 'text', text: 'Done.' }], 'end_turn']);
  });

  it('starts at once and sends pings until it ends', async () => {
    const response = await post(RUN);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    expect(await reader.read()).toMatchObject({ value: ping });
    for (let nth = 0; nth < 3; nth += 1) {
      await clock.advance(PING_MS);
      expect(await reader.read()).toMatchObject({ value: ping });
    }
    (await firstArrived()).call.answerWithEnd();
    expect(clock.pending()).toBe(0);
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) rest += read.value;
    expect(rest).not.toContain('ping');
  });

  it('to a process that has ended is dropped', async () => {
    const leaving = new AbortController();
    await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: RUN,
      signal: leaving.signal,
    });
    leaving.abort();
    const { call } = await firstArrived();
    await until(() => clock.pending() === 0, 'its pings have stopped');
    call.answerWithTools(['toolu_1']);
  });
});
