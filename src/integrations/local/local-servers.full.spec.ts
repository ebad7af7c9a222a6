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
  it('is not started again at once, later and later, and as before after it ran well', async () => {
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

  it('is started at once when something about it has changed', async () => {
    const to = endpoint('exits');
    await expect(local.connect(to)).rejects.toEqual(expect.anything());
    expect((await local.connect({ ...to, args: endpoint().args })).closed).toBe(false);
  });

  it('is not what one is who was only asked by somebody who went away', async () => {
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

describe('a server that failed and that somebody asks for explicitly', () => {
  const ended = failure('process', 'The local server ended unexpectedly (exit code 1).');
  const later = (seconds: number): unknown =>
    failure('process', expect.stringContaining(`again in ${seconds} seconds at the earliest.`));
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
    local = processes.begin(clock);
  });

  it('is started in spite of that, once in a second, and what comes of it counts for the others', async () => {
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

  it('keeps nobody waiting any more once it could be started', async () => {
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

  it('is not waited for by somebody who went away', async () => {
    const to = endpoint('exits');
    await expect(local.connect(to)).rejects.toEqual(ended);
    const leaving = new AbortController();
    const connecting = local.connector.connect(to, {
      signal: leaving.signal,
      onToolsChanged: () => undefined,
      anew: true,
    });
    await until(() => clock.sleeping() === 1, 'it waits');
    leaving.abort(new Error('Went away'));
    await expect(connecting).rejects.toThrow('Went away');
    expect(clock.sleeping()).toBe(0);
  });
});

describe('the number of local servers', () => {
  it('is bounded: the one that has been idle for longest leaves for a newcomer', async () => {
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

  it('is bounded: a newcomer is told so where all others are busy', async () => {
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

  it('may be none', async () => {
    local = processes.begin(new ManualClock(), { MCP_LOCAL_SERVERS: '0' });
    await expect(local.connect()).rejects.toEqual(
      failure('process', 'Too many local servers are in use. Try again later.'),
    );
  });

  it('is 10 for an organization, and takes nothing from another', async () => {
    const other = await local.connect();
    const organizationId = newId();
    const own: McpConnection[] = [];
    for (let count = 0; count < 11; count += 1) own.push(await local.connect(endpoint('good', { organizationId })));
    expect(own.map(({ closed }) => closed)).toEqual([true, ...Array<boolean>(10).fill(false)]);
    expect(other.closed).toBe(false);
  });

  it('is none once the service has stopped, and no more are started', async () => {
    const connections = await Promise.all([local.connect(), local.connect(endpoint('stubborn'))]);
    await local.servers.onApplicationShutdown();
    expect(connections.map(({ closed }) => closed)).toEqual([true, true]);
    await expect(local.connect()).rejects.toEqual(failure('process', 'The service is stopping.'));
  });
});
