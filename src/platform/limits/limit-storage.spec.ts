import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { clusterOnly } from '../../../test/support/modes.js';
import { closeRedis, openRedis } from '../../../test/support/test-redis.js';
import type { Clock } from '../clock/index.js';
import { SystemClock } from '../clock/index.js';
import { newId } from '../ids/index.js';
import type { Redis } from 'ioredis';
import { connectRedis, type RedisClient } from '../redis/index.js';
import { createLogger } from '../telemetry/index.js';
import { MemoryWindows } from './memory-windows.js';
import { LimitStorage, type WindowRecord, type WindowStorage } from './limit-storage.js';
import { RedisWindows } from './redis-windows.js';

const silent = createLogger({ logLevel: 'silent' });

/** Time passes only when a test advances it. */
class HandClock extends SystemClock {
  private ms = Date.UTC(2025, 0, 1);
  private jumped = 0;
  private readonly tasks: (() => void)[] = [];

  override now(): Date {
    return new Date(this.ms + this.jumped);
  }

  override monotonic(): number {
    return this.ms;
  }

  override every(_ms: number, task: () => void): () => void {
    this.tasks.push(task);
    return () => undefined;
  }

  /** Sets the wall clock; no time passes. */
  jump(ms: number): void {
    this.jumped += ms;
  }

  advance(ms: number): void {
    this.ms += ms;
    for (const task of this.tasks) task();
  }
}

interface Limit {
  readonly bucket: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** What the headers of a response contain. */
function stateOf(limit: number, { totalHits, isBlocked, timeToExpire, timeToBlockExpire }: WindowRecord) {
  const remaining = Math.max(0, limit - totalHits);
  return { allowed: !isBlocked, limit, remaining, resetSeconds: timeToExpire, retryAfterSeconds: timeToBlockExpire };
}

const limiterOn = (storage: WindowStorage) => ({
  hit: async ({ bucket, limit, windowSeconds }: Limit, throttler = 'shared') => {
    const [record] = await storage.incrementAll([{ throttler, key: bucket, ttl: windowSeconds * 1000, limit }]);
    return stateOf(limit, record!);
  },
});

interface Subject {
  readonly storage: WindowStorage;
  /** Lets the window of a bucket end. */
  readonly endWindow: (bucket: string) => Promise<void>;
}

function contract(name: string, open: () => Subject): void {
  describe(`request windows in ${name}`, () => {
    it('accepts exactly as many requests as the limit, and reports how many remain', async () => {
      const { storage } = open();
      const limiter = limiterOn(storage);
      const limit = { bucket: newId(), limit: 3, windowSeconds: 60 };
      const states = [
        await limiter.hit(limit),
        await limiter.hit(limit),
        await limiter.hit(limit),
        await limiter.hit(limit),
      ];
      expect(states.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
      expect(states.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0]);
      expect(states[0]).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60, retryAfterSeconds: 0 });
      expect(states[3]?.retryAfterSeconds).toBe(states[3]?.resetSeconds);
    });

    it('is exact for 200 concurrent requests', async () => {
      const { storage } = open();
      const limiter = limiterOn(storage);
      const limit = { bucket: newId(), limit: 37, windowSeconds: 60 };
      const states = await Promise.all(Array.from({ length: 200 }, () => limiter.hit(limit)));
      expect(states.filter(({ allowed }) => allowed)).toHaveLength(37);
    });

    it('starts again when the window has ended, also after refused requests', async () => {
      const { storage, endWindow } = open();
      const limiter = limiterOn(storage);
      const limit = { bucket: newId(), limit: 1, windowSeconds: 60 };
      await limiter.hit(limit);
      for (let refused = 0; refused < 5; refused += 1) expect((await limiter.hit(limit)).allowed).toBe(false);
      await endWindow(limit.bucket);
      expect(await limiter.hit(limit)).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 60 });
    });

    it('counts a request in all of its windows, or in none when one is full', async () => {
      const { storage } = open();
      const wide = { throttler: 'wide', key: newId(), ttl: 60_000, limit: 10 };
      const narrow = { throttler: 'narrow', key: newId(), ttl: 60_000, limit: 1 };
      expect(await storage.incrementAll([wide, narrow])).toMatchObject([
        { totalHits: 1 },
        { totalHits: 1, isBlocked: false },
      ]);
      expect(await storage.incrementAll([wide, narrow])).toMatchObject([
        { totalHits: 1, isBlocked: false },
        { totalHits: 2, isBlocked: true, timeToBlockExpire: 60 },
      ]);
      expect(await storage.incrementAll([wide])).toMatchObject([{ totalHits: 2 }]);
    });

    it('is exact in several windows when 200 requests come at once', async () => {
      const { storage } = open();
      const own = Array.from({ length: 4 }, () => ({ throttler: 'own', key: newId(), ttl: 60_000, limit: 20 }));
      const common = { throttler: 'common', key: newId(), ttl: 60_000, limit: 50 };
      const counted = await Promise.all(
        Array.from({ length: 200 }, (_, index) => storage.incrementAll([own[index % 4]!, common])),
      );
      expect(counted.filter((windows) => windows.every(({ isBlocked }) => !isBlocked))).toHaveLength(50);
      const perOwn = await Promise.all(own.map((window) => storage.incrementAll([{ ...window, limit: 1_000 }])));
      expect(perOwn.reduce((sum, [window]) => sum + window!.totalHits - 1, 0)).toBe(50);
    });

    it('counts each bucket for itself', async () => {
      const { storage } = open();
      const limiter = limiterOn(storage);
      const first = { bucket: newId(), limit: 1, windowSeconds: 60 };
      await limiter.hit(first);
      expect((await limiter.hit({ ...first, bucket: newId() })).allowed).toBe(true);
    });

    it('never has a Retry-After of more than an hour', async () => {
      const { storage } = open();
      const limiter = limiterOn(storage);
      const limit = { bucket: newId(), limit: 0, windowSeconds: 7_200 };
      expect(await limiter.hit(limit)).toMatchObject({ allowed: false, retryAfterSeconds: 3_600 });
    });
  });
}

contract('memory', () => {
  const clock = new HandClock();
  return {
    storage: new MemoryWindows(clock),
    endWindow: async () => {
      clock.advance(60_000);
    },
  };
});

clusterOnly('with Redis', () => {
  const prefix = `test:${newId()}:`;
  let redis: Redis;

  beforeAll(async () => {
    redis = await openRedis();
  });

  afterAll(async () => {
    await closeRedis(redis, prefix);
  });

  contract('Redis', () => ({
    storage: new RedisWindows(redis, new HandClock(), prefix),
    endWindow: async (bucket) => {
      await redis.del(`${prefix}${bucket}`);
    },
  }));

  it('shares a limit between processes', async () => {
    const limit = { bucket: newId(), limit: 10, windowSeconds: 60 };
    const processes = [1, 2, 3].map(() =>
      limiterOn(new LimitStorage(new MemoryWindows(new HandClock()), new RedisWindows(redis, new HandClock(), prefix))),
    );
    const states = await Promise.all(Array.from({ length: 60 }, (_, index) => processes[index % 3]!.hit(limit)));
    expect(states.filter(({ allowed }) => allowed)).toHaveLength(10);
  });

  it('counts in the process alone what is limited per process', async () => {
    const limit = { bucket: newId(), limit: 1, windowSeconds: 60 };
    const processes = [1, 2].map(() =>
      limiterOn(
        new LimitStorage(
          new MemoryWindows(new HandClock()),
          new RedisWindows(redis, new HandClock(), prefix),
          new Set(['own']),
        ),
      ),
    );
    for (const process of processes) expect((await process.hit(limit, 'own')).allowed).toBe(true);
    expect((await processes[0]!.hit(limit, 'own')).allowed).toBe(false);
  });

  it('ends a window whose key lost its expiry', async () => {
    const storage = new RedisWindows(redis, new HandClock(), prefix);
    const bucket = newId();
    await redis.set(`${prefix}${bucket}`, 5);
    await limiterOn(storage).hit({ bucket, limit: 5, windowSeconds: 60 });
    expect(await redis.pttl(`${prefix}${bucket}`)).toBeGreaterThan(0);
  });
});

describe('without Redis', () => {
  const clock: Clock = new HandClock();
  let redis: RedisClient | undefined;

  afterEach(() => redis?.disconnect());

  it('the limit of the process applies at once', async () => {
    redis = connectRedis('redis://127.0.0.1:1', 'test', silent);
    const limiter = limiterOn(new LimitStorage(new MemoryWindows(clock), new RedisWindows(redis, clock)));
    const limit = { bucket: newId(), limit: 2, windowSeconds: 60 };
    const states = [await limiter.hit(limit), await limiter.hit(limit), await limiter.hit(limit)];
    expect(states.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  });
});

describe('memory', () => {
  it('reads without counting', async () => {
    const windows = new MemoryWindows(new HandClock());
    const limiter = limiterOn(windows);
    const limit = { bucket: newId(), limit: 1, windowSeconds: 60 };
    const remaining = () => {
      const state = windows.read({ throttler: 'own', key: limit.bucket, ttl: limit.windowSeconds * 1000, limit: 1 });
      return stateOf(limit.limit, state).remaining;
    };
    expect([remaining(), remaining()]).toEqual([1, 1]);
    expect((await limiter.hit(limit)).allowed).toBe(true);
    expect(remaining()).toBe(0);
  });

  it('removes windows that have ended', async () => {
    const clock = new HandClock();
    const windows = new MemoryWindows(clock);
    for (let index = 0; index < 100; index += 1)
      await limiterOn(windows).hit({ bucket: newId(), limit: 1, windowSeconds: 1 });
    expect(windows.size).toBe(100);
    clock.advance(2_000);
    expect(windows.size).toBe(0);
  });

  it.each([3_600_000, -3_600_000])('keeps a window when the wall clock is set by %i ms', async (ms) => {
    const clock = new HandClock();
    const limiter = limiterOn(new MemoryWindows(clock));
    const limit = { bucket: newId(), limit: 1, windowSeconds: 60 };
    await limiter.hit(limit);
    clock.jump(ms);
    clock.advance(59_000);
    expect(await limiter.hit(limit)).toMatchObject({ allowed: false, resetSeconds: 1, retryAfterSeconds: 1 });
    clock.advance(1_000);
    expect(await limiter.hit(limit)).toMatchObject({ allowed: true, resetSeconds: 60 });
  });
});
