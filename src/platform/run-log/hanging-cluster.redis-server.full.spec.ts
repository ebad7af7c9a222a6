import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Cluster, Redis } from 'ioredis';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { RedisServers } from '../../../test/support/redis-servers.js';
import { collect } from '../../../test/support/run-logs.js';
import { until } from '../../../test/support/until.js';
import { newId } from '../ids/index.js';
import { connectRedis, connectSubscriber, duplicateRedis, keepSubscribed, openRedis } from '../redis/index.js';
import { createLogger } from '../telemetry/index.js';
import { RedisReplication } from './redis-replication.js';
import { RedisRunLog } from './redis-run-log.js';
import { logKey, SCRIPTS } from './redis-scripts.js';
import { RunLogUnavailable } from './run-log.js';
import { COMMAND_MS } from './limits.js';

const logger = createLogger({ logLevel: 'silent' });
const prefix = 'test';
const clock = new ManualClock();
const { signal } = new AbortController();

let servers: RedisServers;
/** The connection that a process opens first. */
let redis: Cluster;

beforeAll(async () => {
  servers = await RedisServers.cluster();
  redis = connectRedis(servers.url, 'test', logger) as Cluster;
  await redis.connect();
  // The other nodes serve on while one hangs.
  for (const port of servers.ports) await onNode(port, (node) => node.config('SET', 'cluster-node-timeout', 120_000));
});
afterEach(() => servers.pause(false));
afterAll(async () => {
  redis.disconnect();
  await servers.close();
});

async function onNode<Answer>(port: number, ask: (node: Redis) => Promise<Answer>): Promise<Answer> {
  const node = new Redis(port);
  try {
    return await ask(node);
  } finally {
    node.disconnect();
  }
}

/** The connections on which commands wait for answers. */
const waitingIn = (cluster: Cluster): Socket[] =>
  (cluster.nodes() as unknown as { commandQueue: { length: number }; stream: Socket }[])
    .filter(({ commandQueue }) => commandQueue.length > 0)
    .map(({ stream }) => stream);

it('lets readers know when a cluster hangs, and serves them when it goes on', async () => {
  const options = { prefix, processName: 'test', clock, logger };
  const [writing, reading] = [await RedisRunLog.connect(redis, options), await RedisRunLog.connect(redis, options)];
  const [read, unread] = [newId(), newId()];
  for (const runId of [read, unread]) {
    const writer = writing.open(runId);
    writer.append('t', 'text');
    writer.end();
    await until(async () => (await redis.exists(logKey(prefix, runId))) === 1, 'the log is in Redis');
  }
  expect(await collect(reading, read)).toHaveLength(1);
  servers.pause(true);
  await expect(reading.read(unread, 0, signal)).rejects.toBeInstanceOf(RunLogUnavailable);

  servers.pause(false);
  const isRead = async (): Promise<boolean> => (await collect(reading, unread).catch(() => [])).length === 1;
  await until(isRead, 'the log can be read', { everyMs: 50 });
  await Promise.all([writing.close(), reading.close()]);
});

it('gives up the connections to nodes that hang, with what waits on them', async () => {
  const runLog = duplicateRedis(redis, { commandTimeout: COMMAND_MS, scripts: SCRIPTS }) as Cluster;
  const jobs = openRedis(servers.url, { maxRetriesPerRequest: null }) as Cluster;
  for (const cluster of [runLog, jobs]) cluster.on('error', () => undefined);
  await runLog.connect();
  const replication = new RedisReplication(runLog, clock, logger);
  const runs = Array.from({ length: 60 }, () => {
    const key = logKey(prefix, newId());
    return { key, listener: replication.start(key) };
  });
  const append = (number: number): void => {
    for (const { listener } of runs) listener.appended({ number, tag: 't', data: 'x'.repeat(30_000) });
  };
  const isWritten = async (): Promise<boolean> =>
    (await Promise.all(runs.map(({ key }) => redis.xlen(key).catch(() => 0)))).every((length) => length === 2);
  append(1);
  await until(() => runLog.nodes().every(({ status }) => status === 'ready'), 'each node has the log of a run');
  await jobs.set('job', 1);

  servers.pause(true);
  const waiting = jobs.set('job', 2);
  append(2);
  await until(() => waitingIn(runLog).length === 3, 'events wait for each node');
  const left = [...waitingIn(runLog), ...waitingIn(jobs)];
  expect(left).toHaveLength(4);
  const areGone = (): boolean => left.every(({ destroyed }) => destroyed);
  await until(areGone, 'no connection to a node that hangs is left', { withinMs: 40_000, everyMs: 50 });

  servers.pause(false);
  await waiting;
  await until(isWritten, 'the logs are complete', { everyMs: 50 });
  await replication.close();
  jobs.disconnect();
});

it('gets news over another node when that of the subscriptions hangs', async () => {
  const subscriber = await connectSubscriber(redis, 'test');
  const heard: string[] = [];
  subscriber.on('message', (_channel: string, text: string) => void heard.push(text));
  keepSubscribed(subscriber, 'news', clock);
  const isAt = (port: number): Promise<boolean> =>
    onNode(port, async (node) => (await node.pubsub('NUMSUB', 'news'))[1] === 1);
  const places = async (): Promise<boolean[]> => Promise.all(servers.ports.map(isAt));
  await until(async () => (await places()).includes(true), 'the subscription is made');
  const hanging = servers.ports[(await places()).indexOf(true)] ?? 0;
  const other = servers.ports.find((port) => port !== hanging) ?? 0;

  servers.pause(true, [hanging]);
  await clock.advance(5_000);
  const isHeard = async (): Promise<boolean> => {
    await onNode(other, (node) => node.publish('news', 'heard'));
    return heard.length > 0;
  };
  await until(isHeard, 'the news are heard', { everyMs: 50 });
  subscriber.disconnect();
});
