import { Controller, Get, Global, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ThrottlerModule, ThrottlerStorage } from '@nestjs/throttler';
import { describe, expect, it } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { Clock, SystemClock } from '../clock/index.js';
import { readSettings, Settings } from '../config/index.js';
import { Health, HttpModule, PublicRoute } from '../http/index.js';
import { createHttpApp } from '../http/create-http-app.js';
import { newId } from '../ids/index.js';
import { createLogger, TelemetryModule } from '../telemetry/index.js';
import { LimitStorage } from './limit-storage.js';
import { LimitsModule } from './limits.module.js';
import { MemoryWindows } from './memory-windows.js';
import { DomainError } from '../errors/index.js';
import { type CountedWindow, RateLimitGuard } from './rate-limit.guard.js';
import { RedisWindows } from './redis-windows.js';

/** One client, to which all requests belong. */
class OneClientGuard extends RateLimitGuard {
  protected override keyOf(throttler: string): Promise<string> {
    return Promise.resolve(throttler);
  }

  protected override refusal({ timeToBlockExpire }: CountedWindow): Error {
    return new DomainError('rate_limited', 'Too many.', { retryAfterSeconds: timeToBlockExpire });
  }
}

@Controller()
@UseGuards(OneClientGuard)
class LimitedController {
  @Get('limited')
  @PublicRoute()
  limited(): object {
    return {};
  }
}

const throttlers = [
  { name: 'wide', limit: 600, ttl: 60_000 },
  { name: 'narrow', limit: 1, ttl: 30_000 },
];

function rootModule(settings: Settings, clock: Clock): object {
  @Global()
  @Module({
    providers: [
      { provide: Settings, useValue: settings },
      { provide: Clock, useValue: clock },
    ],
    exports: [Settings, Clock],
  })
  class KernelModule {}

  @Module({
    imports: [
      KernelModule,
      TelemetryModule.forRoot(settings, createLogger(settings)),
      HttpModule,
      LimitsModule.forRoot(settings, clock),
      ThrottlerModule.forRootAsync({
        inject: [MemoryWindows, RedisWindows],
        useFactory: (own: MemoryWindows, shared: RedisWindows | null) => ({
          throttlers,
          storage: new LimitStorage(own, shared),
        }),
      }),
    ],
    controllers: [LimitedController],
  })
  class RootModule {}
  return RootModule;
}

const settingsWith = (more: Record<string, string>) =>
  readSettings({ LOG_LEVEL: 'silent', ...more }, { role: 'all', demo: false });

describe('a limited route', () => {
  it('has the headers of the tightest limit, and Retry-After once it is used up', async () => {
    const settings = settingsWith({});
    const app = await createHttpApp({
      rootModule: rootModule(settings, new ManualClock()) as new () => object,
      settings,
      logger: createLogger(settings),
    });
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}/limited`;
    const headersOf = async () => {
      const { headers } = await fetch(url);
      return ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'].map((name) =>
        headers.get(name),
      );
    };
    expect(await headersOf()).toEqual(['1', '0', '30', null]);
    expect(await headersOf()).toEqual(['1', '0', '30', '30']);
    const storage = app.get<ThrottlerStorage>(ThrottlerStorage);
    // The refused request was counted in neither: this is the second one there.
    expect(await storage.increment('wide', 60_000, 600, 0, 'wide')).toMatchObject({ totalHits: 2 });
    await app.close();
  });
});

describe('a start without Redis', () => {
  it('succeeds; limits apply, and readiness says that Redis is away', async () => {
    const settings = settingsWith({
      DATABASE_URL: 'postgresql://unused',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    const app = await NestFactory.createApplicationContext(
      rootModule(settings, new SystemClock()) as new () => object,
      { logger: false },
    );
    const storage = app.get<ThrottlerStorage>(ThrottlerStorage);
    const bucket = newId();
    expect((await storage.increment(bucket, 60_000, 1, 0, 'narrow')).isBlocked).toBe(false);
    expect((await storage.increment(bucket, 60_000, 1, 0, 'narrow')).isBlocked).toBe(true);
    expect(await app.get(Health).readiness()).toMatchObject({ status: 'ok', facts: { redis: 'away' } });
    await app.close();
  });
});
