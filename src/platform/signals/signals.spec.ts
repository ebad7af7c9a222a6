import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { RedisClient } from '../redis/index.js';
import { CuttableProxy } from '../../../test/support/cuttable-proxy.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { closeRedis, openRedis, REDIS_URL } from '../../../test/support/test-redis.js';
import { until } from '../../../test/support/until.js';
import { newId } from '../ids/index.js';
import { connectRedis, connectSubscriber } from '../redis/index.js';
import { createLogger } from '../telemetry/index.js';
import { DatabaseSignals } from './database-signals.js';
import { redisSignals } from './redis-signals.js';
import { type SignalFields, Signals } from './signals.js';

/** Repeated, because a listener begins some time after its process. */
async function untilHeard(from: Signals, to: readonly Signals[]): Promise<void> {
  const kind = newId();
  const heard = new Set<Signals>();
  for (const signals of to) signals.subscribe(kind, () => void heard.add(signals));
  const published = (): boolean => {
    from.publish(kind, {});
    return heard.size === to.length;
  };
  await until(published, 'the other processes hear the signal', { everyMs: 20 });
}

describe('signals', () => {
  it('are neither sent nor heard where there is one process', () => {
    const signals = new Signals(null);
    signals.subscribe('kind', () => {
      throw new Error('heard');
    });
    signals.publish('kind', {});
  });

  it('that cannot be sent are no failure of the publisher', async () => {
    const signals = new Signals(() => Promise.reject(new Error('away')));
    signals.publish('kind', {});
    await new Promise((resolve) => setImmediate(resolve));
  });

  it.each(['', 'no JSON', '[]', 'null', '{"from":"x","kind":"kind"}', '{"from":"x","kind":"kind","about":{"a":1}}'])(
    'ignore what is none: %j',
    (text) => {
      const signals = new Signals(null);
      signals.subscribe('kind', () => {
        throw new Error('heard');
      });
      signals.receive(text);
    },
  );
});

clusterOnly('signals over Redis', () => {
  const prefix = `test-${newId()}`;
  let redis: Redis;
  let subscribers: RedisClient[];
  let clock: ManualClock;
  const processOf = async (of = prefix, through: RedisClient = redis): Promise<Signals> => {
    const subscriber = await connectSubscriber(through, 'test');
    subscribers.push(subscriber);
    return redisSignals(redis, subscriber, of, clock);
  };

  beforeAll(async () => {
    redis = await openRedis();
    subscribers = [];
    clock = new ManualClock();
  });
  afterAll(async () => {
    for (const subscriber of subscribers) subscriber.disconnect();
    await closeRedis(redis, prefix);
  });

  it('reach all other processes of the service, by kind, and no other service', async () => {
    const [one, other, third, foreign] = [
      await processOf(),
      await processOf(),
      await processOf(),
      await processOf('other'),
    ];
    const heard: [string, SignalFields][] = [];
    foreign.subscribe('runs.changed', () => void heard.push(['foreign', {}]));
    one.subscribe('runs.changed', () => void heard.push(['itself', {}]));
    other.subscribe('runs.changed', (about) => void heard.push(['other', about]));
    await untilHeard(one, [other, third]);
    one.publish('runs.changed', { runId: 'r' });
    await untilHeard(one, [other]);
    expect(heard).toEqual([['other', { runId: 'r' }]]);
  });

  it('arrive again after the connection was lost', async () => {
    const [one, other] = [await processOf(), await processOf()];
    await untilHeard(one, [other]);
    subscribers.at(-1)?.disconnect(true);
    await untilHeard(one, [other]);
  });

  it('arrive again after the host of the connection has vanished', async () => {
    const { hostname, port, pathname } = new URL(REDIS_URL);
    const network = await CuttableProxy.start({ host: hostname, port: Number(port || 6379) });
    const url = `redis://127.0.0.1:${network.port}${pathname}`;
    const through = connectRedis(url, 'test', createLogger({ logLevel: 'silent' }));
    await through.connect();
    const [one, other] = [await processOf(), await processOf(prefix, through)];
    await untilHeard(one, [other]);
    network.vanish();
    await clock.advance(5_000);
    await untilHeard(one, [other]);
    through.disconnect();
    subscribers.at(-1)?.disconnect();
    await network.close();
  });
});

clusterOnly('signals over the database', () => {
  let open: TestDatabase;
  let network: CuttableProxy;
  const opened: DatabaseSignals[] = [];
  const processOn = (url: string): Signals => {
    const process = new DatabaseSignals(open.database, url, 'test', createLogger({ logLevel: 'silent' }));
    void process.listen();
    opened.push(process);
    return process.signals;
  };

  beforeAll(async () => {
    open = await openTestDatabase([]);
    const url = new URL(open.url ?? '');
    network = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
  });
  afterAll(async () => {
    for (const process of opened) await process.close();
    await network.close();
    await open.close();
  });

  it('reach the other processes, also after the connection was lost', async () => {
    const through = new URL(open.url ?? '');
    through.port = String(network.port);
    const [one, other] = [processOn(open.url ?? ''), processOn(through.href)];
    await untilHeard(one, [other]);
    network.cut();
    network.restore();
    await untilHeard(one, [other]);
    await untilHeard(other, [one]);
  });
});
