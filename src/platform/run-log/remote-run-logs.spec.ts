import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { REDIS_URL } from '../../../test/support/run-logs.js';
import { newId } from '../ids/index.js';
import { connectRedis } from '../redis/index.js';
import { createLogger } from '../telemetry/index.js';
import { logKey } from './redis-scripts.js';
import { RemoteLogs } from './remote-run-logs.js';
import { APPEAR_MS } from './limits.js';

const prefix = `test-${newId()}`;

clusterOnly('a log that appears in Redis while it is looked for', () => {
  let commands: Redis;
  let subscriber: Redis;

  beforeAll(async () => {
    commands = connectRedis(REDIS_URL, createLogger({ logLevel: 'silent' }));
    await commands.connect();
    subscriber = commands.duplicate({ autoResubscribe: false });
    await subscriber.connect();
  });
  afterAll(() => {
    commands.disconnect();
    subscriber.disconnect();
  });

  it('is found by the news of it, without the wait for logs that are late', async () => {
    const key = logKey(prefix, newId());
    const exists = commands.exists.bind(commands);
    const looking = jest.spyOn(commands, 'exists').mockImplementationOnce(async (...keys: unknown[]) => {
      const answer = await exists(...(keys as string[]));
      // Between the question and its answer, as another process would.
      const news = once(subscriber, 'message');
      await commands.multi().xadd(key, '1-0', 'event', 'first').xadd(key, '1-1', '', '').publish(key, '').exec();
      await news;
      return answer;
    });
    const waits = jest.spyOn(globalThis, 'setTimeout');
    const remote = new RemoteLogs(commands, subscriber, prefix, new ManualClock());

    const batches = await remote.read(key.split(':').at(-1) ?? '', 0, new AbortController().signal);
    const entries = [];
    for await (const batch of batches ?? []) entries.push(...batch);

    expect(entries).toEqual([{ number: 1, tag: 'event', data: 'first' }]);
    expect(waits.mock.calls.filter(([, ms]) => ms === APPEAR_MS)).toEqual([]);
    waits.mockRestore();
    looking.mockRestore();
    await commands.del(key);
  });
});
