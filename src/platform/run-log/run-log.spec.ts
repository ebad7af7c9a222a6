import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { collect, eventually } from '../../../test/support/run-logs.js';
import { closeRedis, openRedis } from '../../../test/support/test-redis.js';
import { SystemClock } from '../clock/index.js';
import { newId } from '../ids/index.js';
import { createLogger } from '../telemetry/index.js';
import { MemoryRunLog } from './memory-run-log.js';
import { RedisRunLog } from './redis-run-log.js';
import type { RunLog, RunLogEntry } from './run-log.js';
import { ENDED_LOG_MS } from './limits.js';

interface Subject {
  /** The process that executes the run. */
  readonly writing: RunLog;
  /** The process that reads it: the same one or another. */
  readonly reading: RunLog;
  /** Resolves once readers can see this entry: a remote reader waits only a moment for a log that does not exist. */
  readonly settled: (runId: string, last: number) => Promise<void>;
  /** Lets the time pass after which ended logs are removed. */
  readonly outlive: (runId: string) => Promise<void>;
}

function contract(name: string, open: () => Subject): void {
  describe(`the run log, ${name}`, () => {
    it('numbers the entries from 1 and gives all of them to every reader, early or late', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      writer.append('a', 'one');
      await settled(runId, 1);
      const early = collect(reading, runId);
      writer.append('b', 'two');
      writer.end();

      const expected = [
        { number: 1, tag: 'a', data: 'one' },
        { number: 2, tag: 'b', data: 'two' },
      ];
      expect(await early).toEqual(expected);
      expect(await collect(reading, runId)).toEqual(expected);
    });

    it('resumes after the number a reader has seen', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      for (const data of ['one', 'two', 'three']) writer.append('t', data);
      writer.end();
      await settled(runId, 3);

      expect((await collect(reading, runId, 2)).map(({ data }) => data)).toEqual(['three']);
    });

    it('gives a reader that is at or behind the end the last entry, with the next number', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      for (const data of ['one', 'two', 'three']) writer.append('t', data);
      const waiting = collect(reading, runId, 7);
      writer.end();
      await settled(runId, 3);

      expect(await collect(reading, runId, 3)).toEqual([{ number: 4, tag: 't', data: 'three' }]);
      expect(await collect(reading, runId, 1_000)).toEqual([{ number: 1_001, tag: 't', data: 'three' }]);
      expect(await waiting).toEqual([{ number: 8, tag: 't', data: 'three' }]);
    });

    it('ends the readers of a run without events', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      writing.open(runId).end();
      await settled(runId, 0);

      expect(await collect(reading, runId)).toEqual([]);
    });

    it('returns every character that was written', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      const written = ['', '\r\n\0', '👩‍👩‍👧 ünïcode', '"quoted" \\ {}', '-1', `${'é'.repeat(3_000_000)}!`];
      for (const data of written) writer.append('', data);
      writer.end();
      await settled(runId, written.length);

      const read = await collect(reading, runId);
      expect(read.every(({ data }, index) => data === written[index])).toBe(true);
      expect(read).toHaveLength(written.length);
    });

    it('ends a reader that aborts while it waits', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      writing.open(runId).append('t', 'one');
      await settled(runId, 1);
      const gone = new AbortController();
      const batches = await reading.read(runId, 1, gone.signal);
      const end = batches?.[Symbol.asyncIterator]().next();
      gone.abort();

      expect(await end).toEqual({ done: true, value: undefined });
    });

    it('returns null for an unknown run', async () => {
      const { reading } = open();
      expect(await reading.read(newId(), 0, new AbortController().signal)).toBeNull();
    });

    it('removes a log some time after its end', async () => {
      const { writing, reading, settled, outlive } = open();
      const runId = newId();
      const writer = writing.open(runId);
      writer.append('t', 'one');
      writer.end();
      await settled(runId, 1);
      expect(await collect(reading, runId)).toHaveLength(1);
      await outlive(runId);

      expect(await reading.read(runId, 0, new AbortController().signal)).toBeNull();
    });

    it('is sealed once for a writer that died', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const unknown = newId();
      const writer = writing.open(runId);
      writer.append('t', 'one');
      await settled(runId, 1);
      const early = collect(reading, runId);
      await Promise.all(['last', 'last'].map((data) => reading.seal(runId, 't', data)));
      await reading.seal(runId, 't', 'again');
      await reading.seal(unknown, 't', 'last');

      expect((await early).map(({ number, data }) => [number, data])).toEqual([
        [1, 'one'],
        [2, 'last'],
      ]);
      expect(await collect(reading, runId)).toEqual(await early);
      expect(await reading.read(unknown, 0, new AbortController().signal)).toBeNull();
    });

    it('accepts nothing from a writer after the log was sealed', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      writer.append('t', 'one');
      await settled(runId, 1);
      await reading.seal(runId, 't', 'last');
      for (const data of ['two', 'three', 'four']) writer.append('t', data);
      writer.end();

      expect((await collect(reading, runId)).map(({ data }) => data)).toEqual(['one', 'last']);
    });

    it('gives the same log in order to 50 readers that begin at any time', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      writer.append('t', '1');
      await settled(runId, 1);
      const readers: Promise<RunLogEntry[]>[] = [];
      for (let number = 2; number <= 3_000; number += 1) {
        writer.append('t', String(number));
        if (number % 60 === 0) {
          const after = number % 7 === 0 ? number : 0;
          readers.push(collect(reading, runId, after));
          await setImmediate();
        }
      }
      writer.end();

      expect(readers).toHaveLength(50);
      for (const entries of await Promise.all(readers)) {
        const first = entries[0]?.number ?? 0;
        expect(entries.map(({ number }) => number)).toEqual(entries.map((_, index) => first + index));
        expect(entries.every(({ number, data }) => data === String(number))).toBe(true);
        expect(entries.at(-1)?.number).toBe(3_000);
      }
    });

    it('can be read from every position while it is written, without a gap or a repetition', async () => {
      const { writing, reading, settled } = open();
      const runId = newId();
      const writer = writing.open(runId);
      const total = 40;
      const readers: Promise<RunLogEntry[]>[] = [];
      for (let number = 1; number <= total; number += 1) {
        writer.append('t', String(number));
        if (number === 1) await settled(runId, 1);
        for (let after = 0; after <= total; after += 1) readers.push(collect(reading, runId, after));
      }
      writer.end();

      const read = await Promise.all(readers);
      for (const [index, entries] of read.entries()) {
        const after = index % (total + 1);
        expect(entries.map(({ number }) => number)).toEqual(
          // At the end there is still the last entry, with the next number.
          Array.from({ length: Math.max(total - after, 1) }, (_, offset) => after + 1 + offset),
        );
      }
    });

    it('does not mix the logs of runs', async () => {
      const { writing, reading, settled } = open();
      const runs = Array.from({ length: 30 }, () => newId());
      const writers = runs.map((runId) => writing.open(runId));
      for (let number = 1; number <= 50; number += 1) {
        for (const [index, writer] of writers.entries()) writer.append('t', `${index}:${number}`);
        if (number % 10 === 0) await setImmediate();
      }
      for (const writer of writers) writer.end();
      for (const runId of runs) await settled(runId, 50);

      for (const [index, runId] of runs.entries()) {
        const entries = await collect(reading, runId);
        expect(entries.map(({ data }) => data)).toEqual(Array.from({ length: 50 }, (_, at) => `${index}:${at + 1}`));
      }
    });
  });
}

contract('in memory', () => {
  const clock = new ManualClock();
  const log = new MemoryRunLog(clock);
  return {
    writing: log,
    reading: log,
    settled: () => Promise.resolve(),
    outlive: async () => {
      await setImmediate();
      await clock.advance(ENDED_LOG_MS);
    },
  };
});

clusterOnly('with Redis', () => {
  const prefix = `test-${newId()}`;
  const silent = createLogger({ logLevel: 'silent' });
  const clock = new SystemClock();
  let redis: Redis;
  let logs: RedisRunLog[] = [];

  const key = (runId: string): string => `${prefix}:run-log:${runId}`;

  beforeAll(async () => {
    redis = await openRedis();
    const processes = [1, 2].map(() =>
      RedisRunLog.connect(redis, { prefix, processName: 'test', clock, logger: silent }),
    );
    logs = await Promise.all(processes);
  });

  afterAll(async () => {
    await Promise.all(logs.map((log) => log.close()));
    await closeRedis(redis, prefix);
  });

  contract('in two processes', () => ({
    writing: logs[0]!,
    reading: logs[1]!,
    settled: (runId, last) =>
      eventually(async () => (await redis.xrevrange(key(runId), '+', '-', 'COUNT', 1))[0]?.[0].startsWith(`${last}-`)),
    outlive: async (runId) => {
      const left = await redis.pttl(key(runId));
      expect(left).toBeGreaterThan(ENDED_LOG_MS - 30_000);
      expect(left).toBeLessThanOrEqual(ENDED_LOG_MS);
      await redis.pexpire(key(runId), 0);
    },
  }));
});

clusterOnly('with Redis, in one process', () => {
  const prefix = `test-${newId()}`;
  const silent = createLogger({ logLevel: 'silent' });
  const clock = new ManualClock();
  let redis: Redis;
  let log: RedisRunLog;

  beforeAll(async () => {
    redis = await openRedis();
    log = await RedisRunLog.connect(redis, { prefix, processName: 'test', clock, logger: silent });
  });

  afterAll(async () => {
    await log.close();
    await closeRedis(redis, prefix);
  });

  contract('in the process that writes it', () => ({
    writing: log,
    reading: log,
    settled: () => Promise.resolve(),
    outlive: async (runId) => {
      await eventually(async () => (await redis.exists(`${prefix}:run-log:${runId}`)) === 1);
      await redis.del(`${prefix}:run-log:${runId}`);
      await clock.advance(ENDED_LOG_MS);
    },
  }));
});
