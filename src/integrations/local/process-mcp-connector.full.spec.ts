import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  callTool,
  endpoint,
  failure,
  signal,
  type TestLocalServers,
  useLocalServers,
} from '../../../test/support/local-servers.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import { newId } from '../../platform/ids/index.js';

/** Far more than the usual two seconds, for slow machines. */
const MAX_CLOSE_MS = 30_000;
const processes = useLocalServers();
let local: TestLocalServers;
beforeEach(() => {
  local = processes.begin();
});

describe('a local server', () => {
  it('lists its tools and runs concurrent calls', async () => {
    const connection = await local.connect();
    expect((await connection.listTools(signal)).map(({ name }) => name)).toContain('pid');
    expect(await Promise.all([callTool(connection, 'slow'), callTool(connection, 'noise')])).toEqual(['slow', 'quiet']);
    expect(await callTool(connection, 'nearly_large')).toHaveLength(1_000_000);
    expect(connection.closed).toBe(false);
    await connection.close();
    expect(connection.closed).toBe(true);
    await expect(callTool(connection, 'pid')).rejects.toEqual(failure('session_lost'));
  });

  it('is started a second time if it exits at the probe for its protocol version', async () => {
    expect(await callTool(await local.connect(endpoint('ends-when-probed')), 'noise')).toBe('quiet');
    expect(local.logger.lines).toEqual([]);
  });

  it('gets its values and a path, but no other variable of the service', async () => {
    const names = ['SECRETS_KEY', 'DATABASE_URL', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'];
    for (const name of names) process.env[name] = `canary-${name}`;
    const to = endpoint('good', { env: { KEY: 'value' }, stateFile: 'STATE_PATH' });
    const seen = await callTool(await local.connect(to), 'environment');
    for (const name of names) Reflect.deleteProperty(process.env, name);
    expect(seen).not.toContain('canary');
    const folder = join(local.folders, to.integrationId);
    expect(JSON.parse(seen)).toMatchObject({
      KEY: 'value',
      STATE_PATH: join(folder, 'state'),
      HOME: folder,
      TMPDIR: folder,
      cwd: folder,
    });
  });

  it('is never shared: each connection has its own process', async () => {
    const shared = { organizationId: newId() };
    const connections = await Promise.all([
      local.connect(endpoint('good', shared)),
      local.connect(endpoint('good', shared)),
      local.connect(),
    ]);
    const pids = await Promise.all(connections.map((connection) => callTool(connection, 'pid')));
    expect(new Set(pids).size).toBe(3);
  });

  it('notifies of changed tools, once for several changes', async () => {
    const clock = new ManualClock();
    local = processes.begin(clock);
    let changes = 0;
    const connection = await local.connect(endpoint(), () => (changes += 1));
    await callTool(connection, 'change');
    await clock.advance(500);
    expect(changes).toBe(1);
  });

  it('has its folder until the integration is removed', async () => {
    const to = endpoint();
    const connection = await local.connect(to);
    await connection.close();
    expect(readdirSync(local.folders)).toEqual([to.integrationId]);
    const again = await local.connect(to);
    await local.servers.forget(to.integrationId);
    expect(again.closed).toBe(true);
    expect(readdirSync(local.folders)).toEqual([]);
  });
});

describe('a faulty local server', () => {
  it.each([
    ['crash', 'process', 'The local server ended unexpectedly (exit code 3).'],
    ['large', 'too_large', 'The local server wrote a message larger than 1 MB and was ended.'],
    ['endless', 'too_large', 'The local server wrote a message larger than 1 MB and was ended.'],
    ['flood', 'too_large', 'The local server wrote more than can be read and was ended.'],
    ['memory', 'process', 'The local server took too much memory and was ended.'],
    ['forks', 'process', 'The local server started too many processes and was ended.'],
  ])('(%s) fails the call and ends', async (tool, reason, message) => {
    const connection = await local.connect();
    await expect(callTool(connection, tool)).rejects.toEqual(failure(reason, message));
    expect(connection.closed).toBe(true);
  });

  it('(exits after its answer) has answered', async () => {
    const connection = await local.connect();
    expect(await callTool(connection, 'last_words')).toBe('bye');
    await until(() => connection.closed, 'it is gone');
  });

  it('(closes its output) is ended', async () => {
    const connection = await local.connect();
    await expect(callTool(connection, 'mute')).rejects.toEqual(failure('process'));
    expect(connection.closed).toBe(true);
  });

  it('(silent in a call) fails the call after a minute, and keeps running', async () => {
    const clock = new ManualClock();
    local = processes.begin(clock);
    const connection = await local.connect();
    const silent = expect(callTool(connection, 'silent')).rejects.toEqual(failure('timeout'));
    await clock.advance(60_000);
    await silent;
    expect(await callTool(connection, 'noise')).toBe('quiet');
  });

  it('(silent from the start) fails after 10 s', async () => {
    const clock = new ManualClock();
    local = processes.begin(clock);
    const connecting = expect(local.connect(endpoint('silent'))).rejects.toEqual(
      failure('timeout', 'The server did not answer within 10 seconds.'),
    );
    await until(() => existsSync(local.folders), 'it is being started');
    await clock.advance(10_000);
    await connecting;
  });

  it.each([
    ['no-such-program', 'The program of the local server is not installed, or cannot be run.'],
    ['/', 'The program of the local server is not installed, or cannot be run.'],
  ])('(%s) fails because its program cannot be run', async (command, message) => {
    await expect(local.connect(endpoint('good', { command }))).rejects.toEqual(failure('process', message));
  });

  it('(ignores signals) is ended within seconds', async () => {
    const connection = await local.connect(endpoint('stubborn'));
    const pid = Number(await callTool(connection, 'pid'));
    const start = performance.now();
    await connection.close();
    expect(performance.now() - start).toBeLessThan(MAX_CLOSE_MS);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('cannot reveal its secrets in an error or in the log', async () => {
    const connection = await local.connect(endpoint('good', { env: { KEY: 'canary-secret' } }));
    await expect(callTool(connection, 'crash')).rejects.toEqual(expect.anything());
    expect(local.logger.lines.join()).toContain('exit code 3');
    expect(local.logger.lines.join()).not.toContain('canary');
  });
});
