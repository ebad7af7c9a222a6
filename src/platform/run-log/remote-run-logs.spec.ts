import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { openRedis } from '../../../test/support/test-redis.js';
import { newId } from '../ids/index.js';
import { logKey } from './redis-scripts.js';
import { RemoteLogs } from './remote-run-logs.js';
import type { RunLogEntry } from './run-log.js';
import { APPEAR_MS, LOOK_MS } from './limits.js';

const prefix = `test-${newId()}`;

clusterOnly('a log that appears in Redis after its first fetch has begun', () => {
  let commands: Redis;
  let subscriber: Redis;

  const write = (key: string): Promise<unknown> =>
    commands.multi().xadd(key, '1-0', 'event', 'first').xadd(key, '1-1', '', '').publish(key, '').exec();

  async function entriesOf(key: string, clock = new ManualClock()): Promise<RunLogEntry[]> {
    const remote = new RemoteLogs(commands, subscriber, prefix, clock);
    const entries: RunLogEntry[] = [];
    const batches = await remote.read(key.split(':').at(-1) ?? '', 0, new AbortController().signal);
    for await (const batch of batches ?? []) entries.push(...batch);
    return entries;
  }

  beforeAll(async () => {
    commands = await openRedis();
    subscriber = commands.duplicate({ autoResubscribe: false });
    await subscriber.connect();
  });
  afterAll(() => {
    commands.disconnect();
    subscriber.disconnect();
  });

  it('is found through its announcement, without the wait for late logs', async () => {
    const key = logKey(prefix, newId());
    const exists = commands.exists.bind(commands);
    const lookUp = jest.spyOn(commands, 'exists').mockImplementationOnce(async (...keys: unknown[]) => {
      const response = await exists(...(keys as string[]));
      // Another process writes the log after Redis has responded and before this process has read the response.
      const announcement = once(subscriber, 'message');
      await write(key);
      await announcement;
      return response;
    });
    const wait = globalThis.setTimeout;
    const waits = jest
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation((task, ms) => wait(task, ms === APPEAR_MS ? 2 ** 30 : ms));

    expect(await entriesOf(key)).toEqual([{ number: 1, tag: 'event', data: 'first' }]);
    waits.mockRestore();
    lookUp.mockRestore();
    await commands.del(key);
  });

  it('is waited for even if the periodic check occurs during the first fetch', async () => {
    const [key, clock] = [logKey(prefix, newId()), new ManualClock()];
    const exists = commands.exists.bind(commands);
    const lookUp = jest.spyOn(commands, 'exists').mockImplementationOnce(async (...keys: unknown[]) => {
      const response = await exists(...(keys as string[]));
      await clock.advance(LOOK_MS);
      return response;
    });
    const wait = globalThis.setTimeout;
    const waits = jest.spyOn(globalThis, 'setTimeout').mockImplementation((task, ms) => {
      if (ms !== APPEAR_MS) return wait(task, ms);
      // During the wait for a late log, and after a second fetch without that wait would have ended.
      wait(() => void clock.advance(LOOK_MS).then(() => write(key)), 100);
      return wait(task, 2 ** 30);
    });

    expect(await entriesOf(key, clock)).toEqual([{ number: 1, tag: 'event', data: 'first' }]);
    waits.mockRestore();
    lookUp.mockRestore();
    await commands.del(key);
  });
});
