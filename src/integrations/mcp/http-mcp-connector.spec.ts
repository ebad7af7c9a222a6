import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';
import { type EverythingServer, startEverything } from '../../../test/support/everything-server.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { startModernServer } from '../../../test/support/modern-tool-server.js';
import { ToolConnections } from '../../../test/support/tool-connections.js';
import { until } from '../../../test/support/until.js';
import { SystemClock } from '../../platform/clock/index.js';
import type { McpConnection } from './mcp-connection.js';
import type { McpFailure } from './mcp-failure.js';
import { CHANGES_WITHIN_MS, MAX_AGE_MS } from './mcp-limits.js';

const connections = new ToolConnections();
const { signal } = new AbortController();
/** A keyword of the protocol: the value is also sent as a header. */
const REGION = Object.assign({ type: 'string' } as const, { 'x-mcp-header': 'Region' });
const callOf = (name: string, input: object = {}) => ({ name, input: { ...input }, meta: {} });

afterEach(() => connections.close());

describe.each(['streamableHttp', 'sse'] as const)("the protocol's reference server over %s", (transport) => {
  let server: EverythingServer;
  let connection: McpConnection;

  beforeAll(async () => {
    server = await startEverything(transport);
  });
  afterAll(() => server.close());

  const open = async (): Promise<void> => {
    connection = await connections.open({ url: server.url, transport });
  };

  it('is connected, lists its tools and runs them, several at once', async () => {
    await open();
    const tools = await connection.listTools(signal);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']));
    expect(tools.find(({ name }) => name === 'echo')?.inputSchema).toMatchObject({
      type: 'object',
      required: ['message'],
    });
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((number) => connection.callTool(callOf('get-sum', { a: number, b: 10 }), signal)),
    );
    expect(answers.map(({ output }) => output)).toEqual(
      [1, 2, 3, 4, 5].map((n) => `The sum of ${n} and 10 is ${n + 10}.`),
    );
  });

  it('returns media, resources, links and structured content in a form for the model', async () => {
    await open();
    const image = await connection.callTool(callOf('get-tiny-image'), signal);
    expect(image.media).toEqual([expect.objectContaining({ kind: 'image', mediaType: 'image/png' })]);
    expect(image.output).toContain('image-2');
    const resource = await connection.callTool(
      callOf('get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
      signal,
    );
    expect(resource.output).toContain('Resource "demo://resource/dynamic/text/1":');
    const links = await connection.callTool(callOf('get-resource-links', { count: 2 }), signal);
    expect(links.output).toContain('Link to resource "demo://resource/dynamic/');
    const structured = await connection.callTool(callOf('get-structured-content', { location: 'New York' }), signal);
    expect(structured.output.match(/temperature/g)).toHaveLength(1);
  });

  it('returns an error for an unknown tool and invalid input that the model can read', async () => {
    await open();
    expect(await connection.callTool(callOf('no-such-tool'), signal)).toMatchObject({ isError: true });
    expect(await connection.callTool(callOf('get-sum', { a: 'x' }), signal)).toMatchObject({ isError: true });
  });

  it('receives the cancellation of a call', async () => {
    await open();
    const gone = new AbortController();
    const long = connection.callTool(
      callOf('trigger-long-running-operation', { duration: 60, steps: 60 }),
      gone.signal,
    );
    gone.abort(new Error('the run was cancelled'));
    await expect(long).rejects.toThrow('the run was cancelled');
    expect((await connection.callTool(callOf('echo', { message: 'still there' }), signal)).output).toContain(
      'still there',
    );
  });

  it('fails the calls under way when it ends', async () => {
    const mortal = await startEverything(transport);
    // Time has to pass: the SDK first tries to resume the interrupted stream.
    const connected = await connections.open({ url: mortal.url, transport }, { clock: new SystemClock() });
    const long = connected.callTool(callOf('trigger-long-running-operation', { duration: 60, steps: 60 }), signal);
    const failed = expect(long).rejects.toMatchObject({ reason: 'unreachable' });
    await connected.callTool(callOf('echo', { message: 'x' }), signal);
    await mortal.close();
    await failed;
  });

  it('stays connected for as long as the pool keeps connections', async () => {
    const clock = new ManualClock();
    const connected = await connections.open({ url: server.url, transport }, { clock });
    await clock.advance(MAX_AGE_MS);
    expect(connected.closed).toBe(false);
    expect((await connected.callTool(callOf('echo', { message: 'later' }), signal)).output).toContain('later');
  });

  it('closes its connection when it ends', async () => {
    const mortal = await startEverything(transport);
    const lost = await connections.open({ url: mortal.url, transport });
    await mortal.close();
    if (transport === 'sse') await until(() => lost.closed, 'the stream to be missed');
    const call = lost.callTool(callOf('echo', { message: 'x' }), signal);
    await expect(call).rejects.toMatchObject({ reason: transport === 'sse' ? 'session_lost' : 'unreachable' });
  });

  it('has no session any more after a restart', async () => {
    const first = await startEverything(transport);
    const connected = await connections.open({ url: first.url, transport });
    await first.close();
    const second = await startEverything(transport, { port: first.port });
    try {
      if (transport === 'sse') await until(() => connected.closed, 'the stream to be missed');
      const call = connected.callTool(callOf('echo', { message: 'x' }), signal);
      await expect(call).rejects.toMatchObject({ reason: 'session_lost' });
      expect(connected.closed).toBe(true);
    } finally {
      await second.close();
    }
  });
});

describe('a server of the revision 2026-07-28', () => {
  const define = (server: McpServer): void => {
    const inputSchema = fromJsonSchema<{ text: string; region: string }>({
      type: 'object',
      properties: { text: { type: 'string' }, region: REGION },
    });
    server.registerTool('say', { inputSchema, annotations: { readOnlyHint: true } }, ({ text }, context) => ({
      content: [{ type: 'text', text: `${text} ${JSON.stringify(context.mcpReq._meta)}` }],
    }));
  };

  it('is connected, lists and runs its tools', async () => {
    const server = await startModernServer(define);
    try {
      const connection = await connections.open({ url: server.url });
      expect(await connection.listTools(signal)).toEqual([expect.objectContaining({ name: 'say', readOnly: true })]);
      const meta = { userContext: { user: 'u1' } };
      const said = await connection.callTool({ name: 'say', input: { text: 'hello', region: 'eu' }, meta }, signal);
      expect(said).toMatchObject({ isError: false, output: expect.stringContaining('hello') });
      expect(said.output).toContain('"userContext":{"user":"u1"}');
      expect(server.requests.every(({ headers }) => headers['mcp-session-id'] === undefined)).toBe(true);
    } finally {
      await connections.close();
      await server.close();
    }
  });

  it('runs a tool with an output schema that expects an argument as a header', async () => {
    const schema = fromJsonSchema<{ region: string }>({ type: 'object', properties: { region: REGION } });
    const server = await startModernServer((tools) => {
      tools.registerTool('find', { inputSchema: schema, outputSchema: schema }, ({ region }) => ({
        content: [],
        structuredContent: { region },
      }));
    });
    try {
      const connection = await connections.open({ url: server.url });
      const call = connection.callTool(callOf('find', { region: 'eu' }), signal);
      await expect(call).resolves.toMatchObject({ isError: false, output: '{"region":"eu"}' });
      expect(server.requests.some(({ headers }) => headers['mcp-param-region'] === 'eu')).toBe(true);
    } finally {
      await connections.close();
      await server.close();
    }
  });

  it('that refuses to send notifications is connected, and the refusal is reported without secrets', async () => {
    const server = await startModernServer(define);
    server.refuseListening(({ headers }) => `No\nstreams for ${headers.authorization ?? ''}`);
    const failures: McpFailure[] = [];
    try {
      const headers = { authorization: 'Bearer canary-of-a-token' };
      const connection = await connections.open(
        { url: server.url, headers },
        { onListenFailed: (failure) => failures.push(failure) },
      );
      await until(() => failures.length > 0, 'the refusal to be reported');
      expect(failures.map(({ message }) => message)).toEqual([
        'The server answered with an error: No streams for Bearer [redacted]',
      ]);
      expect(await connection.listTools(signal)).toHaveLength(1);
    } finally {
      await connections.close();
      await server.close();
    }
    expect(failures).toHaveLength(1);
  });

  it('stays connected after it ends the stream of notifications, which is reported once', async () => {
    const server = await startModernServer(define);
    const clock = new ManualClock();
    const failures: McpFailure[] = [];
    let changes = 0;
    try {
      const options = {
        onToolsChanged: () => (changes += 1),
        onListenFailed: (failure: McpFailure) => failures.push(failure),
      };
      const connection = await connections.open({ url: server.url }, { clock, ...options });
      await until(async () => {
        server.toolsChanged();
        await clock.advance(CHANGES_WITHIN_MS);
        return changes > 0;
      }, 'the stream to be open');
      expect(failures).toEqual([]);
      server.dropListeners();
      await until(() => failures.length > 0, 'the end of the stream to be reported');
      expect(failures.map(({ message }) => message)).toEqual(['The server ended the stream of notifications.']);
      expect(await connection.listTools(signal)).toHaveLength(1);
    } finally {
      await connections.close();
      await server.close();
    }
    expect(failures).toHaveLength(1);
  });

  it('notifies of changed tools', async () => {
    const server = await startModernServer(define);
    let changes = 0;
    try {
      await connections.open({ url: server.url }, { clock: new SystemClock(), onToolsChanged: () => (changes += 1) });
      await until(() => {
        server.toolsChanged();
        return changes > 0;
      }, 'the notification');
    } finally {
      await connections.close();
      await server.close();
    }
  });
});
