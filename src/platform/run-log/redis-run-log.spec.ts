import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { CuttableProxy } from '../../../test/support/cuttable-proxy.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { collect, eventually } from '../../../test/support/run-logs.js';
import { closeRedis, openRedis, REDIS_URL } from '../../../test/support/test-redis.js';
import { newId } from '../ids/index.js';
import { connectRedis, type RedisClient } from '../redis/index.js';
import { createLogger } from '../telemetry/index.js';
import { RedisRunLog } from './redis-run-log.js';
import { type RunLogEntry, RunLogUnavailable } from './run-log.js';
import { APPEAR_MS, BACKLOG_SIZE, ENDED_LOG_MS, LOOK_MS, REFRESH_MS, RUNNING_LOG_MS } from './limits.js';

const silent = createLogger({ logLevel: 'silent' });
const prefix = `test-${newId()}`;
const key = (runId: string): string => `${prefix}:run-log:${runId}`;
const { signal } = new AbortController();

/** A reader that keeps its entries, however its log ends. */
class Reader {
  readonly entries: RunLogEntry[] = [];
  readonly ended: Promise<unknown>;
  private readonly gone = new AbortController();

  constructor(log: RedisRunLog, runId: string, after = 0) {
    this.ended = this.run(log, runId, after).catch((error: unknown) => error);
  }

  get numbers(): number[] {
    return this.entries.map(({ number }) => number);
  }

  has(number: number): Promise<void> {
    return eventually(() => this.entries.length >= number);
  }

  leave(): void {
    this.gone.abort();
  }

  private async run(log: RedisRunLog, runId: string, after: number): Promise<'end' | 'gone'> {
    const batches = await log.read(runId, after, this.gone.signal);
    if (!batches) return 'gone';
    for await (const batch of batches) this.entries.push(...batch);
    return 'end';
  }
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

clusterOnly('the run log in Redis', () => {
  let redis: Redis;
  let proxy: CuttableProxy;
  let clock: ManualClock;
  /** Two processes, one that executes runs and one that reads them, on a network that tests can break. */
  let writing: RedisRunLog;
  let reading: RedisRunLog;
  let through: RedisClient;

  const lengthOf = (runId: string): Promise<number> => redis.xlen(key(runId));
  /** Resolves once Redis has this many entries: a reader in the other process waits only a moment for a log that does not exist. */
  const written = (runId: string, length: number): Promise<void> =>
    eventually(async () => (await lengthOf(runId)) === length);

  function write(runId: string, count: number): { append(count: number): void; end(): void } {
    const writer = writing.open(runId);
    let last = 0;
    const append = (more: number): void => {
      for (let index = 0; index < more; index += 1) writer.append('t', String((last += 1)));
    };
    append(count);
    return { append, end: () => writer.end() };
  }

  beforeAll(async () => {
    redis = await openRedis();
  });

  beforeEach(async () => {
    const { hostname, port, pathname } = new URL(REDIS_URL);
    proxy = await CuttableProxy.start({ host: hostname, port: Number(port || 6379) });
    clock = new ManualClock();
    through = connectRedis(`redis://127.0.0.1:${proxy.port}${pathname}`, 'test', silent);
    await through.connect();
    writing = await RedisRunLog.connect(through, { prefix, processName: 'test', clock, logger: silent });
    reading = await RedisRunLog.connect(through, { prefix, processName: 'test', clock, logger: silent });
  });

  afterEach(async () => {
    await Promise.all([writing.close(), reading.close()]);
    through.disconnect();
    await proxy.close();
  });

  afterAll(async () => {
    await closeRedis(redis, prefix);
  });

  /** Restores the network; resolves once both processes have reconnected. */
  async function reconnected(): Promise<void> {
    proxy.restore();
    const runId = newId();
    writing.open(runId).end();
    await eventually(async () => (await new Reader(reading, runId).ended) === 'end');
  }

  it('opens no further connection for any number of readers', async () => {
    const before = proxy.connections;
    const runs = upTo(20).map(() => newId());
    const writers = runs.map((runId) => write(runId, 1));
    await written(runs[19]!, 1);
    const readers = runs.flatMap((runId) => upTo(5).map(() => new Reader(reading, runId)));
    await Promise.all(readers.map((reader) => reader.has(1)));
    for (const writer of writers) {
      writer.append(1);
      writer.end();
    }

    for (const reader of readers) expect(await reader.ended).toBe('end');
    expect(readers.every(({ entries }) => entries.length === 2)).toBe(true);
    expect(proxy.connections).toBe(before);
  });

  it('unsubscribes once the last reader of a run has left', async () => {
    const runId = newId();
    write(runId, 1);
    await written(runId, 1);
    const readers = upTo(3).map(() => new Reader(reading, runId));
    await Promise.all(readers.map((reader) => reader.has(1)));
    expect(await redis.pubsub('NUMSUB', key(runId))).toEqual([key(runId), 1]);
    for (const reader of readers) reader.leave();

    await eventually(async () => (await redis.pubsub('NUMSUB', key(runId)))[1] === 0);
    const again = new Reader(reading, runId);
    await again.has(1);
    again.leave();
    expect(await again.ended).toBe('end');
  });

  it('finds a run that is read just before its first event', async () => {
    const wait = globalThis.setTimeout;
    // The wait for a late log is in real time, and must not end before the log is written here.
    const waits = jest
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation((task, ms) => wait(task, ms === APPEAR_MS ? 2 ** 30 : ms));
    const runId = newId();
    const reader = new Reader(reading, runId);
    await eventually(async () => (await redis.pubsub('NUMSUB', key(runId)))[1] === 1);
    write(runId, 3).end();

    expect(await reader.ended).toBe('end');
    expect(reader.numbers).toEqual([1, 2, 3]);
    waits.mockRestore();
  });

  it('writes one last entry if several processes seal a log at the same time', async () => {
    const runId = newId();
    const writer = write(runId, 5);
    await written(runId, 5);
    const reader = new Reader(reading, runId);
    const third = await RedisRunLog.connect(redis, { prefix, processName: 'test', clock, logger: silent });
    await Promise.all(upTo(20).map((n) => (n % 2 ? reading : third).seal(runId, 't', `seal ${n}`)));
    writer.append(5);
    writer.end();

    expect(await reader.ended).toBe('end');
    expect(reader.numbers).toEqual(upTo(6));
    expect((await collect(third, runId)).at(-1)?.data).toMatch(/^seal /);
    await third.close();
  });

  it('lets a log expire when its process dies, and not while the run has no events', async () => {
    const runId = newId();
    const writer = write(runId, 1);
    await eventually(async () => (await redis.pttl(key(runId))) > RUNNING_LOG_MS - 30_000);
    await redis.pexpire(key(runId), 5_000);
    await clock.advance(REFRESH_MS);
    await eventually(async () => (await redis.pttl(key(runId))) > RUNNING_LOG_MS - 30_000);
    writer.end();
    await eventually(async () => (await redis.pttl(key(runId))) > ENDED_LOG_MS - 30_000);
  });

  it('continues the run and local readers when the connection is lost; remote readers fail', async () => {
    const runId = newId();
    const writer = write(runId, 10);
    await written(runId, 10);
    const here = new Reader(writing, runId);
    const elsewhere = new Reader(reading, runId);
    await elsewhere.has(10);
    proxy.cut();
    writer.append(10);

    expect(await elsewhere.ended).toBeInstanceOf(RunLogUnavailable);
    expect(elsewhere.numbers).toEqual(upTo(10));
    await here.has(20);
    await expect(reading.read(runId, 10, signal)).rejects.toMatchObject({ kind: 'unavailable' });

    await reconnected();
    const back = new Reader(reading, runId, 10);
    await back.has(10);
    writer.append(10);
    writer.end();
    expect(await back.ended).toBe('end');
    expect(back.numbers).toEqual(upTo(30).slice(10));
    expect(await here.ended).toBe('end');
    expect(here.numbers).toEqual(upTo(30));
  });

  it('writes no entry twice when the arrival of a batch is unknown', async () => {
    const runId = newId();
    proxy.stall('answers');
    const writer = write(runId, 10);
    await written(runId, 10);
    proxy.cut();
    writer.append(20);
    writer.end();

    await reconnected();
    expect((await collect(reading, runId)).map(({ number }) => number)).toEqual(upTo(30));
  });

  it('fails remote readers when Redis stops responding', async () => {
    const runId = newId();
    const writer = write(runId, 10);
    await written(runId, 10);
    const here = new Reader(writing, runId);
    const elsewhere = new Reader(reading, runId);
    await elsewhere.has(10);
    proxy.stall('everything');
    writer.append(10);
    await clock.advance(LOOK_MS);

    expect(await elsewhere.ended).toBeInstanceOf(RunLogUnavailable);
    await here.has(20);
    await reconnected();
    writer.end();
    expect(await collect(reading, runId)).toHaveLength(20);
    expect(await here.ended).toBe('end');
  });

  it('continues local readers when a log is deleted; its remote readers fail, those of other runs continue', async () => {
    const [lost, silentRun, other] = [newId(), newId(), newId()];
    const writer = write(lost, 10);
    const silentWriter = write(silentRun, 10);
    const otherWriter = write(other, 10);
    for (const runId of [lost, silentRun, other]) await written(runId, 10);
    const here = new Reader(writing, lost);
    const elsewhere = [lost, silentRun, other].map((runId) => new Reader(reading, runId));
    await Promise.all(elsewhere.map((reader) => reader.has(10)));
    await redis.del(key(lost), key(silentRun));
    writer.append(10);

    expect(await elsewhere[0]!.ended).toBeInstanceOf(RunLogUnavailable);
    expect(elsewhere[0]!.numbers).toEqual(upTo(10));
    await clock.advance(LOOK_MS);
    expect(await elsewhere[1]!.ended).toBeInstanceOf(RunLogUnavailable);
    for (const each of [writer, silentWriter, otherWriter]) each.end();
    expect(await here.ended).toBe('end');
    expect(here.numbers).toEqual(upTo(20));
    expect(await elsewhere[2]!.ended).toBe('end');
    expect(await reading.read(lost, 0, signal)).toBeNull();
    expect(await reading.read(lost, 20, signal)).toBeNull();
  });

  it('loses no event when Redis loses the scripts, as it does at a restart', async () => {
    const runId = newId();
    const writer = write(runId, 10);
    await written(runId, 10);
    await redis.script('FLUSH');
    writer.append(10);
    writer.end();
    await written(runId, 21);

    expect(await collect(reading, runId)).toHaveLength(20);
  });

  it('gives up the copy of the largest run during a long outage, and keeps that of a small one', async () => {
    const [large, small] = [newId(), newId()];
    const smallWriter = write(small, 10);
    const largeWriter = writing.open(large);
    largeWriter.append('t', 'first');
    await written(large, 1);
    const elsewhere = new Reader(reading, large);
    await elsewhere.has(1);
    proxy.cut();
    const megabyte = 'x'.repeat(1024 * 1024);
    for (let size = 0; size <= BACKLOG_SIZE; size += megabyte.length) largeWriter.append('t', megabyte);
    smallWriter.append(10);
    await elsewhere.ended;
    await reconnected();
    largeWriter.append('t', 'last');
    largeWriter.end();
    smallWriter.end();

    expect(await reading.read(large, 0, signal)).toBeNull();
    expect(await collect(reading, small)).toHaveLength(20);
    expect((await collect(writing, large)).at(-1)?.data).toBe('last');
  });

  it('sends the remaining entries when the process stops', async () => {
    const runId = newId();
    write(runId, 20_000).end();
    await writing.close();

    expect(await collect(reading, runId)).toHaveLength(20_000);
  });

  it('serves local readers and stops without Redis', async () => {
    const nowhere = connectRedis('redis://127.0.0.1:1', 'test', silent);
    const alone = await RedisRunLog.connect(nowhere, { prefix, processName: 'test', clock, logger: silent });
    const writer = alone.open('run');
    const reader = new Reader(alone, 'run');
    writer.append('t', 'one');
    await alone.seal('other', 't', 'last');
    await expect(alone.read('other', 0, signal)).rejects.toBeInstanceOf(RunLogUnavailable);
    writer.end();

    expect(await reader.ended).toBe('end');
    expect(reader.entries).toHaveLength(1);
    await alone.close();
    nowhere.disconnect();
  });
});
