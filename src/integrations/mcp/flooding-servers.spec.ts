import { setImmediate as nextTask } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Canary } from '../../../test/support/canary.js';
import { computedMs } from '../../../test/support/computing-time.js';
import { LyingToolServer } from '../../../test/support/lying-tool-server.js';
import { ToolConnections } from '../../../test/support/tool-connections.js';
import { until } from '../../../test/support/until.js';
import { MAX_BATCH, MAX_REPLIES_PER_SECOND } from './mcp-limits.js';

/** Includes the garbage collection of the whole test run. */
const MAX_STALL_MS = 250;
const connections = new ToolConnections();
const { signal } = new AbortController();
const CALL = { name: 'echo', input: { text: 'x' }, meta: {} };
const FLOODED = {
  reason: 'protocol',
  message: 'The server sent more messages than can be read, and was disconnected.',
};
const FLOODS = {
  pings: event({ id: 1, method: 'ping' }),
  'events without a message': 'data:{}\n\n',
  'changes of its tools': event({ method: 'notifications/tools/list_changed' }),
  'answers to nothing': event({ id: 999, result: {} }),
  'log lines': event({ method: 'notifications/message', params: {} }),
  'empty lines': '\n',
};
let server: LyingToolServer;

afterEach(async () => {
  await connections.close();
  await server.close();
});

function event(message: object): string {
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
}

/** The longest time, in milliseconds, for which `work` blocked the event loop. */
async function longestStall(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  const over = new AbortController();
  const end = (): void => over.abort();
  work.then(end, end);
  while (!over.signal.aborted) {
    const before = process.threadCpuUsage();
    await nextTask();
    longest = Math.max(longest, computedMs(before));
  }
  return longest;
}

describe('a server that sends very many messages', () => {
  it.each(Object.entries(FLOODS))('is disconnected, and does not block other work (%s)', async (_kind, flood) => {
    server = await LyingToolServer.start();
    server.flood = flood;
    const connection = await connections.open({ url: server.url });
    server.lie = 'floods';
    const call = connection.callTool(CALL, signal);
    const [stall] = await Promise.all([longestStall(call), expect(call).rejects.toMatchObject(FLOODED)]);
    expect(stall).toBeLessThan(MAX_STALL_MS);
    expect(connection.closed).toBe(true);
    await expect(connection.callTool(CALL, signal)).rejects.toMatchObject({ reason: 'session_lost' });
    await until(() => server.abandoned === 1, 'the socket to be closed');
  });

  it('is disconnected even if no call waits for it', async () => {
    server = await LyingToolServer.start('floods_when_listened_to');
    const connection = await connections.open({ url: server.url });
    await until(() => connection.closed, 'it to be disconnected');
  });

  it('over the older transport is disconnected, even during the handshake', async () => {
    server = await LyingToolServer.start();
    const canary = await Canary.start((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n'.concat('data:{}\n\n'.repeat(5_000)));
    });
    try {
      await expect(connections.open({ url: canary.url, transport: 'sse' })).rejects.toMatchObject(FLOODED);
    } finally {
      await canary.close();
    }
  });
});

describe('a server that sends many messages', () => {
  it('such as progress notifications stays connected', async () => {
    server = await LyingToolServer.start();
    const connection = await connections.open({ url: server.url });
    server.lie = 'reports_progress';
    expect(await connection.callTool(CALL, signal)).toMatchObject({ output: 'done', isError: false });
    expect([server.drops, connection.closed]).toEqual([200, false]);
  });

  it('such as pings gets a limited number of replies per second', async () => {
    server = await LyingToolServer.start();
    const connection = await connections.open({ url: server.url });
    const before = server.requests.length;
    server.flood = FLOODS.pings.repeat(500);
    server.lie = 'answers_after_events';
    expect(await connection.callTool(CALL, signal)).toMatchObject({ output: 'done' });
    server.lie = 'none';
    await connection.callTool(CALL, signal);
    const replies = (): number => server.requests.slice(before).filter(({ method }) => method === undefined).length;
    // They are sent concurrently with the calls, and may arrive later.
    await until(() => replies() > 0, 'an answer');
    expect(replies()).toBeLessThanOrEqual(MAX_REPLIES_PER_SECOND);
    expect(connection.closed).toBe(false);
  });

  it.each([
    [1, true],
    [MAX_BATCH, true],
    [MAX_BATCH + 1, false],
    [10_000, false],
  ])('in one answer is accepted up to a limit (%d)', async (batch, isFew) => {
    server = await LyingToolServer.start();
    server.batch = batch;
    const connection = await connections.open({ url: server.url });
    server.lie = 'answers_a_batch';
    const call = connection.callTool(CALL, signal);
    const expected = isFew
      ? expect(call).resolves.toMatchObject({ output: 'done' })
      : expect(call).rejects.toMatchObject({
          reason: 'protocol',
          message: 'The server answered with too many messages at once.',
        });
    const [stall] = await Promise.all([longestStall(call), expected]);
    expect(stall).toBeLessThan(MAX_STALL_MS);
  });
});
