import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  callTool,
  endpoint,
  failure,
  SERVER,
  type TestLocalServers,
  useLocalServers,
} from '../../../test/support/local-servers.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import { newId } from '../../platform/ids/index.js';
import type { McpConnection } from '../mcp/mcp-connection.js';

const processes = useLocalServers();
let local: TestLocalServers;
beforeEach(() => {
  local = processes.begin();
});

describe('a server that failed', () => {
  it('is started again with growing pauses, which reset after it ran well', async () => {
    const clock = new ManualClock();
    local = processes.begin(clock);
    const to = endpoint('exits');
    const ended = 'The local server ended unexpectedly (exit code 1).';
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      await expect(local.connect(to)).rejects.toEqual(failure('process', ended));
      const words = seconds === 1 ? '1 second' : `${seconds} seconds`;
      await expect(local.connect(to)).rejects.toEqual(
        failure('process', `${ended} It is started again in ${words} at the earliest.`),
      );
      await clock.advance(seconds * 1_000 - 1);
      await expect(local.connect(to)).rejects.toEqual(
        failure('process', `${ended} It is started again in 1 second at the earliest.`),
      );
      await clock.advance(1);
    }
    const mended = { ...to, args: endpoint().args };
    const connection = await local.connect(mended);
    await clock.advance(60_000);
    await expect(callTool(connection, 'crash')).rejects.toEqual(expect.anything());
    await expect(local.connect(mended)).rejects.toEqual(failure('process', expect.stringContaining('in 1 second at')));
  });

  it('is started at once if its settings have changed', async () => {
    const to = endpoint('exits');
    await expect(local.connect(to)).rejects.toEqual(expect.anything());
    expect((await local.connect({ ...to, args: endpoint().args })).closed).toBe(false);
  });

  it('is not one whose caller aborted', async () => {
    const to = endpoint('silent');
    const leaving = new AbortController();
    const connecting = local.connector.connect(to, { signal: leaving.signal, onToolsChanged: () => undefined });
    await until(() => existsSync(local.folders), 'it is being started');
    leaving.abort(new Error('Went away'));
    await expect(connecting).rejects.toThrow('Went away');
    expect((await local.connect({ ...to, args: endpoint().args })).closed).toBe(false);
    expect(local.logger.lines).toEqual([]);
  });
});

describe('an explicit attempt to start a server that failed', () => {
  const ended = failure('process', 'The local server ended unexpectedly (exit code 1).');
  const later = (seconds: number): unknown =>
    failure('process', expect.stringContaining(`again in ${seconds} seconds at the earliest.`));
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
    local = processes.begin(clock);
  });

  it('is made despite the pause, once in a second, and its result counts for other callers', async () => {
    const to = endpoint('exits');
    await expect(local.connect(to)).rejects.toEqual(ended);
    await clock.advance(1_000);
    await expect(local.connect(to)).rejects.toEqual(ended);
    await clock.advance(1_000);
    await expect(local.connectAnew(to)).rejects.toEqual(ended);
    await expect(local.connect(to)).rejects.toEqual(later(4));

    const settled: string[] = [];
    const asking = ['one', 'another'].map((who) =>
      expect(local.connectAnew(to))
        .rejects.toEqual(ended)
        .then(() => settled.push(who)),
    );
    await clock.advance(999);
    expect([settled.length, clock.sleeping()]).toEqual([0, 2]);
    await clock.advance(1);
    await until(() => settled.length === 1, 'one was tried');
    expect(clock.sleeping()).toBe(1);
    await clock.advance(1_000);
    await Promise.all(asking);
    await expect(local.connect(to)).rejects.toEqual(later(16));
  });

  it('ends the pause for all callers if it succeeds', async () => {
    const program = join(local.dataDir, 'program.mjs');
    writeFileSync(program, 'process.exit(1)');
    const to = endpoint('good', { args: [program] });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(local.connectAnew(to)).rejects.toEqual(ended);
      await clock.advance(1_000);
    }
    copyFileSync(SERVER, program);
    await expect(local.connect(to)).rejects.toEqual(later(3));
    await (await local.connectAnew(to)).close();
    const connection = await local.connect(to);
    await expect(callTool(connection, 'crash')).rejects.toEqual(expect.anything());
    await expect(local.connect(to)).rejects.toEqual(later(8));
  });

  it('is not made for a caller that aborted', async () => {
    const to = endpoint('exits');
    await expect(local.connect(to)).rejects.toEqual(ended);
    const leaving = new AbortController();
    const connecting = local.connector.connect(to, {
      signal: leaving.signal,
      onToolsChanged: () => undefined,
      ignoresBackoff: true,
    });
    await until(() => clock.sleeping() === 1, 'it waits');
    leaving.abort(new Error('Went away'));
    await expect(connecting).rejects.toThrow('Went away');
    expect(clock.sleeping()).toBe(0);
  });
});

describe('the number of local servers', () => {
  it('is limited: the least recently used idle one ends for a new one', async () => {
    const clock = new ManualClock();
    local = processes.begin(clock, { MCP_LOCAL_SERVERS: '2' });
    const first = await local.connect();
    await clock.advance(1);
    const second = await local.connect();
    await clock.advance(1);
    await callTool(first, 'pid');
    const third = await local.connect();
    expect([first.closed, second.closed, third.closed]).toEqual([false, true, false]);
  });

  it('is limited: a new one fails while all others are busy', async () => {
    local = processes.begin(new ManualClock(), { MCP_LOCAL_SERVERS: '1' });
    const busy = await local.connect();
    const slow = callTool(busy, 'slow');
    await expect(local.connect()).rejects.toEqual(
      failure('process', 'Too many local servers are in use. Try again later.'),
    );
    expect(await slow).toBe('slow');
    expect((await local.connect()).closed).toBe(false);
    expect(busy.closed).toBe(true);
  });

  it('can be limited to none', async () => {
    local = processes.begin(new ManualClock(), { MCP_LOCAL_SERVERS: '0' });
    await expect(local.connect()).rejects.toEqual(
      failure('process', 'Too many local servers are in use. Try again later.'),
    );
  });

  it('is limited to 10 for an organization, without effect on others', async () => {
    const other = await local.connect();
    const organizationId = newId();
    const own: McpConnection[] = [];
    for (let count = 0; count < 11; count += 1) own.push(await local.connect(endpoint('good', { organizationId })));
    expect(own.map(({ closed }) => closed)).toEqual([true, ...Array<boolean>(10).fill(false)]);
    expect(other.closed).toBe(false);
  });

  it('is zero after the service has stopped, and no more are started', async () => {
    const connections = await Promise.all([local.connect(), local.connect(endpoint('stubborn'))]);
    await local.servers.onApplicationShutdown();
    expect(connections.map(({ closed }) => closed)).toEqual([true, true]);
    await expect(local.connect()).rejects.toEqual(failure('process', 'The service is stopping.'));
  });
});
