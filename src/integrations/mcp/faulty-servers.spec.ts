import { afterEach, describe, expect, it } from '@jest/globals';
import { Canary } from '../../../test/support/canary.js';
import { type Lie, LyingToolServer } from '../../../test/support/lying-tool-server.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { ToolConnections } from '../../../test/support/tool-connections.js';
import { until } from '../../../test/support/until.js';
import { CALL_MS, CONNECT_MS } from '../limits.js';
import type { McpConnection } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';
import { MIN_RESUME_MS } from './mcp-limits.js';

const connections = new ToolConnections();
const { signal } = new AbortController();
const CALL = { name: 'echo', input: { text: 'x' }, meta: {} };
let server: LyingToolServer;

afterEach(async () => {
  await connections.close();
  await server.close();
});

/** Connects while the server works, and then makes it faulty. */
async function liedTo(lie: Lie, headers: Record<string, string> = {}): Promise<McpConnection> {
  server = await LyingToolServer.start();
  const connection = await connections.open({ url: server.url, headers });
  server.lie = lie;
  return connection;
}

async function failure(work: Promise<unknown>): Promise<McpFailure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof McpFailure)) throw new Error('It is no failure of the server', { cause: error });
  return error;
}

describe('a call to a faulty server', () => {
  it.each<[Lie, McpFailure['reason']]>([
    ['resets', 'unreachable'],
    ['answers_500', 'unreachable'],
    ['invalid_json', 'protocol'],
    ['no_json_rpc', 'protocol'],
    ['huge_answer', 'too_large'],
    ['endless_event', 'too_large'],
    ['stream_without_answer', 'unreachable'],
    ['gzip_bomb', 'too_large'],
  ])('fails at once, without internal details in the message (%s)', async (lie, reason) => {
    const connection = await liedTo(lie);
    const failed = await failure(connection.callTool(CALL, signal));
    expect(failed.reason).toBe(reason);
    expect(failed.message).not.toMatch(/127\.0\.0\.1|10\.0\.0\.7|stack|ECONN|undefined/);
    expect(server.count('tools/call')).toBe(1);
  });

  it('leaves the connection usable for the next call', async () => {
    const connection = await liedTo('huge_answer');
    await failure(connection.callTool(CALL, signal));
    server.lie = 'none';
    expect(await connection.callTool(CALL, signal)).toMatchObject({ output: 'done', isError: false });
  });

  it('fails when the session has ended, and the connection is closed', async () => {
    const connection = await liedTo('unknown_session');
    expect(await failure(connection.callTool(CALL, signal))).toMatchObject({ reason: 'session_lost' });
    expect(connection.closed).toBe(true);
    expect(await failure(connection.callTool(CALL, signal))).toMatchObject({ reason: 'session_lost' });
    expect(server.count('tools/call')).toBe(1);
  });

  it('fails without secrets that the server repeats', async () => {
    const connection = await liedTo('repeats_headers', { 'X-Api-Key': 'canary-secret-4711' });
    const failed = await failure(connection.callTool(CALL, signal));
    expect(server.requests.at(-1)?.headers['x-api-key']).toBe('canary-secret-4711');
    expect(failed).toMatchObject({ reason: 'protocol', message: expect.stringContaining('[redacted]') });
    expect(failed.message).not.toContain('canary-secret');
  });
});

describe('a redirect', () => {
  it.each(['other', 'same'])('to the %s origin is not followed', async (where) => {
    const canary = await Canary.start();
    server = await LyingToolServer.start('none', where === 'other' ? `${canary.url}/secret` : '/mcp?again');
    try {
      const connection = await connections.open({ url: server.url, headers: { Authorization: 'Bearer secret' } });
      server.lie = 'redirect';
      expect(await failure(connection.callTool(CALL, signal))).toMatchObject({ reason: 'unreachable' });
      expect(canary.connections).toBe(0);
      expect(server.count('tools/call')).toBe(1);
    } finally {
      await canary.close();
    }
  });

  it('of the stream of the SSE transport is not followed either', async () => {
    server = await LyingToolServer.start();
    const canary = await Canary.start((_request, response) => response.writeHead(307, { location: '/again' }).end());
    try {
      const opening = connections.open({ url: `${canary.url}/sse`, transport: 'sse' });
      expect(await failure(opening)).toMatchObject({ reason: 'unreachable' });
      expect(canary.requests).toHaveLength(1);
    } finally {
      await canary.close();
    }
  });
});

describe('the timeout', () => {
  it('of connecting aborts the request', async () => {
    const clock = new ManualClock();
    server = await LyingToolServer.start('hangs_at_connect');
    const opening = failure(connections.open({ url: server.url }, { clock }));
    await until(() => server.count('initialize') === 1, 'the handshake');
    await clock.advance(CONNECT_MS);
    expect(await opening).toMatchObject({ reason: 'timeout', kind: 'gateway_timeout' });
    await until(() => server.abandoned === 1, 'the socket to be closed');
  });

  it.each<Lie>(['hangs_at_call', 'drip'])('of a call aborts the request (%s)', async (lie) => {
    const clock = new ManualClock();
    server = await LyingToolServer.start();
    const connection = await connections.open({ url: server.url }, { clock });
    server.lie = lie;
    const call = failure(connection.callTool(CALL, signal));
    await until(() => server.count('tools/call') === 1 && (lie !== 'drip' || server.drops > 10), 'the call');
    await clock.advance(CALL_MS);
    expect(await call).toMatchObject({ reason: 'timeout' });
    await until(() => server.abandoned === 1, 'the socket to be closed');
    await until(() => server.count('notifications/cancelled') === 1, 'the cancellation');
  });

  it('of a list fails it', async () => {
    const clock = new ManualClock();
    server = await LyingToolServer.start('hangs_at_list');
    const connection = await connections.open({ url: server.url }, { clock });
    const list = failure(connection.listTools(signal));
    await until(() => server.count('tools/list') === 1, 'the list');
    await clock.advance(CALL_MS);
    expect(await list).toMatchObject({ reason: 'timeout' });
  });

  it('separates attempts to resume the streams of a server that closes them at once', async () => {
    const clock = new ManualClock();
    server = await LyingToolServer.start('closes_streams');
    await connections.open({ url: server.url }, { clock });
    const attempts = (): number => server.requests.filter(({ httpMethod }) => httpMethod === 'GET').length;
    for (let count = 1; count <= 3; count += 1) {
      await until(() => attempts() === count && clock.nextIn() !== undefined, `attempt ${count}`);
      await until(() => (clock.nextIn() ?? Infinity) <= MIN_RESUME_MS, 'the next one to be planned');
      expect([attempts(), clock.nextIn()]).toEqual([count, MIN_RESUME_MS]);
      await clock.advance(MIN_RESUME_MS);
    }
  });

  it('is not awaited after an abort: the request is aborted and the server receives a cancellation', async () => {
    const connection = await liedTo('hangs_at_call');
    const gone = new AbortController();
    const call = connection.callTool(CALL, gone.signal);
    await until(() => server.count('tools/call') === 1, 'the call');
    gone.abort(new Error('cancelled by the user'));
    await expect(call).rejects.toThrow('cancelled by the user');
    await until(() => server.abandoned === 1, 'the socket to be closed');
    await until(() => server.count('notifications/cancelled') === 1, 'the cancellation');
  });
});

describe('connecting', () => {
  it('to a closed port, or to a server of another protocol, fails', async () => {
    server = await LyingToolServer.start('wrong_protocol');
    expect(await failure(connections.open({ url: server.url }))).toMatchObject({ reason: 'protocol' });
    const closed = 'http://127.0.0.1:1/mcp';
    for (const transport of ['streamableHttp', 'sse'] as const) {
      expect(await failure(connections.open({ url: closed, transport }))).toMatchObject({
        reason: 'unreachable',
        message: 'The server cannot be reached.',
      });
    }
  });

  it.each(['streamableHttp', 'sse'] as const)('to a private address is refused (%s)', async (transport) => {
    server = await LyingToolServer.start();
    const connector = connections.connector('http://tools.example/');
    const refused = connector.connect(
      { kind: 'http', transport, url: server.url, headers: {}, chosenBy: 'customer' },
      { signal, onToolsChanged: () => undefined },
    );
    expect(await failure(refused)).toMatchObject({ reason: 'refused' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('a list of tools', () => {
  it('contains each usable tool once, and no invalid ones', async () => {
    const connection = await liedTo('wrong_tools');
    const tools = await connection.listTools(signal);
    expect(tools.map(({ name, readOnly, description }) => [name, readOnly, description.length])).toEqual([
      ['echo', true, 5],
      ['no-schema', false, 104],
      ['of-a-string', false, 0],
      ['long', false, 10_000],
    ]);
    expect(tools.at(-1)?.inputSchema).toEqual({ type: 'object', properties: {} });
  });

  const NO_ARGUMENTS = { type: 'object', properties: {} };
  const UNLISTED =
    'Its arguments are not listed here, because the server does not describe them in a form that models take.';
  it.each<[string, unknown, object, string]>([
    ...[undefined, null, 'object', ['object'], true].map((schema): [string, unknown, object, string] => [
      `its schema is ${JSON.stringify(schema)}`,
      schema,
      NO_ARGUMENTS,
      UNLISTED,
    ]),
    ['its type is another', { type: 'string' }, NO_ARGUMENTS, ''],
    ['its arguments are a list', { type: 'object', properties: [] }, NO_ARGUMENTS, ''],
    [
      'one argument is none',
      { properties: { a: { type: 'string' }, b: 7 } },
      { type: 'object', properties: { a: { type: 'string' } } },
      '',
    ],
    [
      'what it requires has no names',
      { type: 'object', properties: { a: {} }, required: ['a', 7] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
      '',
    ],
    ['what it requires is no list', { type: 'object', required: 'a' }, NO_ARGUMENTS, ''],
    [
      'what it requires cannot be named',
      { type: 'object', properties: { 'a b': {} }, required: ['a b'] },
      NO_ARGUMENTS,
      UNLISTED,
    ],
    ['it is larger than any real one', { type: 'object', description: 'x'.repeat(300_000) }, NO_ARGUMENTS, UNLISTED],
    [
      'it is nested deeply',
      { type: 'object', properties: { a: JSON.parse(`${'{"not":'.repeat(1_000)}{}${'}'.repeat(1_000)}`) as object } },
      NO_ARGUMENTS,
      UNLISTED,
    ],
  ])('contains a tool even if %s', async (_what, inputSchema, offered, description) => {
    const connection = await liedTo('none');
    server.tools = [{ name: { toString: 1, valueOf: 1 } }, { name: 'odd', inputSchema }];
    expect(await connection.listTools(signal)).toEqual([
      { name: 'odd', description, inputSchema: offered, readOnly: false },
    ]);
  });

  it.each<[Lie, McpFailure['reason']]>([
    ['huge_schema', 'too_large'],
    ['very_many_tools', 'too_large'],
    ['cyclic_pages', 'protocol'],
    ['endless_pages', 'protocol'],
  ])('that is endless or exceeds a limit is refused (%s)', async (lie, reason) => {
    const connection = await liedTo(lie);
    expect(await failure(connection.listTools(signal))).toMatchObject({ reason });
    expect(server.count('tools/list')).toBeLessThanOrEqual(51);
  });
});
