import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { ConnectionPool } from './connection-pool.js';
import type { McpConnection } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';
import { FAILURE_MS, IDLE_MS, MAX_AGE_MS } from './mcp-limits.js';

const { signal } = new AbortController();
const LIMITS = { connections: 3, perOrganization: 2 };

class Connection implements McpConnection {
  closed = false;

  constructor(readonly number: number) {}

  async listTools(): Promise<never[]> {
    return [];
  }

  async callTool(): Promise<never> {
    throw new Error('Not called here');
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

let clock: ManualClock;
let pool: ConnectionPool;
let opened: Connection[];

beforeEach(() => {
  clock = new ManualClock();
  pool = new ConnectionPool(clock, LIMITS);
  opened = [];
});

const open = async (): Promise<Connection> => {
  const connection = new Connection(opened.length + 1);
  opened.push(connection);
  return connection;
};
const keyOf = (integrationId: string, { organizationId = 'o1', version = '1' } = {}) => ({
  organizationId,
  integrationId,
  version,
});
const numberOf = async (connection: McpConnection): Promise<number> => (connection as Connection).number;
const use = (integrationId: string, more: { organizationId?: string; version?: string } = {}): Promise<number> =>
  pool.use({ key: keyOf(integrationId, more), open, work: numberOf, signal });

/** A call that lasts until it is released. */
function held(integrationId: string, more: { organizationId?: string; version?: string } = {}) {
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  const done = pool.use({ key: keyOf(integrationId, more), open, work: () => until, signal });
  done.catch(() => undefined);
  return { done, release };
}

describe('a connection', () => {
  it('is opened once for concurrent calls, and shared only by calls of the same integration', async () => {
    expect(await Promise.all([use('a'), use('a'), use('a'), use('b')])).toEqual([1, 1, 1, 2]);
    expect(await use('a')).toBe(1);
  });

  it('is still opened when one of several callers aborts', async () => {
    let finish: (connection: McpConnection) => void = () => undefined;
    const slow = () => new Promise<McpConnection>((resolve) => (finish = resolve));
    const gone = new AbortController();
    const first = pool.use({ key: keyOf('a'), open: slow, work: numberOf, signal: gone.signal });
    const second = pool.use({ key: keyOf('a'), open: slow, work: numberOf, signal });
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    finish(new Connection(7));
    expect(await second).toBe(7);
  });

  it('is closed after the idle time, and not before', async () => {
    await use('a');
    await clock.advance(IDLE_MS - 1);
    expect(await use('a')).toBe(1);
    await clock.advance(IDLE_MS - 1);
    expect(opened[0]?.closed).toBe(false);
    await clock.advance(1);
    expect(opened[0]?.closed).toBe(true);
    expect([await use('a'), pool.size]).toEqual([2, 1]);
  });

  it('is not used by new calls when it is old, while its calls can end', async () => {
    const call = held('a');
    await clock.advance(MAX_AGE_MS);
    expect(await use('a')).toBe(2);
    expect(opened[0]?.closed).toBe(false);
    call.release();
    await call.done;
    await clock.advance(0);
    expect(opened[0]?.closed).toBe(true);
    expect(pool.size).toBe(1);
  });

  it('is closed after the idle time despite background uses', async () => {
    await use('a');
    const look = () => pool.use({ key: keyOf('a'), open, work: numberOf, signal, isBackground: true });
    for (let count = 1; count < 10; count += 1) {
      await clock.advance(IDLE_MS / 10);
      expect(await look()).toBe(1);
    }
    expect(pool.has('a')).toBe(true);
    await clock.advance(IDLE_MS / 10);
    expect([pool.has('a'), opened[0]?.closed]).toEqual([false, true]);
    expect(await look()).toBe(2);
  });

  it('is not used when it is closed, or was opened with other settings or credentials', async () => {
    await use('a');
    await opened[0]?.close();
    expect(await use('a')).toBe(2);
    expect(await use('a', { version: '2' })).toBe(3);
    await clock.advance(0);
    expect(opened[1]?.closed).toBe(true);
  });

  it('is closed at once when its integration is removed, and when the service stops', async () => {
    const call = held('a');
    await use('b');
    pool.drop('a');
    await clock.advance(0);
    expect(opened.map(({ closed }) => closed)).toEqual([true, false]);
    call.release();
    await pool.onApplicationShutdown();
    expect(opened.map(({ closed }) => closed)).toEqual([true, true]);
    await expect(use('b')).rejects.toBeInstanceOf(McpFailure);
    expect([pool.size, clock.pending()]).toEqual([0, 0]);
  });
});

describe('the limit of connections', () => {
  it('of an organization closes its least recently used idle connection', async () => {
    await use('a');
    await clock.advance(1);
    await use('b');
    await clock.advance(1);
    await use('a');
    await use('c');
    expect(opened.map(({ closed }) => closed)).toEqual([false, true, false]);
  });

  it('of the process does so too, but never closes a connection in use', async () => {
    const calls = [held('a'), held('b'), held('c', { organizationId: 'o2' })];
    await clock.advance(0);
    await expect(use('d', { organizationId: 'o3' })).rejects.toMatchObject({
      message: 'Too many tool servers are in use at the moment.',
    });
    await expect(use('d')).rejects.toBeInstanceOf(McpFailure);
    calls[2]?.release();
    await clock.advance(1);
    expect(await use('d', { organizationId: 'o3' })).toBe(4);
    expect(opened.map(({ closed }) => closed)).toEqual([false, false, true, false]);
  });
});

describe('a failure', () => {
  const failing =
    (count: { times: number }, reason: McpFailure['reason'] = 'unreachable') =>
    () => {
      count.times += 1;
      return Promise.reject(new McpFailure(reason, 'The server cannot be reached.'));
    };

  it('to connect is returned to other calls for a short time, with the same settings', async () => {
    const count = { times: 0 };
    const attempt = (version = '1') =>
      pool.use({ key: keyOf('a', { version }), open: failing(count), work: numberOf, signal });
    await expect(Promise.all([attempt(), attempt()])).rejects.toMatchObject({ reason: 'unreachable' });
    await expect(attempt()).rejects.toMatchObject({ message: 'The server cannot be reached.' });
    expect(count.times).toBe(1);
    await expect(attempt('2')).rejects.toBeInstanceOf(McpFailure);
    expect(count.times).toBe(2);
    await clock.advance(FAILURE_MS);
    expect(await use('a')).toBe(1);
  });

  it('of a local server is not kept: its error has the time of the next start', async () => {
    const count = { times: 0 };
    await expect(
      pool.use({ key: keyOf('a'), open: failing(count, 'process'), work: numberOf, signal }),
    ).rejects.toMatchObject({
      reason: 'process',
    });
    expect(await use('a')).toBe(1);
  });

  it('because the server ended the session is retried once with a new connection', async () => {
    const seen: number[] = [];
    const work = async (connection: McpConnection): Promise<string> => {
      seen.push(await numberOf(connection));
      if (seen.length === 1) throw new McpFailure('session_lost', 'The server ended the connection.');
      return 'done';
    };
    expect(await pool.use({ key: keyOf('a'), open, work, signal })).toBe('done');
    expect(seen).toEqual([1, 2]);
    const lost = () => Promise.reject(new McpFailure('session_lost', 'Again'));
    await expect(pool.use({ key: keyOf('a'), open, work: lost, signal })).rejects.toMatchObject({
      reason: 'session_lost',
    });
    expect(opened).toHaveLength(3);
  });

  it('of the work is not retried', async () => {
    let times = 0;
    const work = () => {
      times += 1;
      return Promise.reject(new McpFailure('unreachable', 'Perhaps it ran'));
    };
    await expect(pool.use({ key: keyOf('a'), open, work, signal })).rejects.toMatchObject({
      message: 'Perhaps it ran',
    });
    expect([times, opened.length]).toEqual([1, 1]);
  });
});
