import { Controller, Get, Global, Module, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import type { AddressInfo } from 'node:net';
import type { FastifyReply } from 'fastify';
import { Clock, SystemClock } from '../clock/index.js';
import { readSettings, Settings } from '../config/index.js';
import { createHttpApp, Health, HttpModule, PublicRoute } from '../http/index.js';
import { newId } from '../ids/index.js';
import { createLogger, TelemetryModule } from '../telemetry/index.js';
import { LimitsModule } from './limits.module.js';
import { setRateLimitHeaders } from './rate-limit-headers.js';
import { RateLimiter } from './rate-limiter.js';

const clock = new SystemClock();

@Controller()
class LimitedController {
  private readonly bucket = newId();

  constructor(private readonly limiter: RateLimiter) {}

  @Get('limited')
  @PublicRoute()
  async limited(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    const wide = await this.limiter.hit({ bucket: `${this.bucket}:wide`, limit: 600, windowSeconds: 60 });
    const narrow = await this.limiter.hit({ bucket: this.bucket, limit: 1, windowSeconds: 30 });
    setRateLimitHeaders(reply, wide, narrow);
    return { allowed: narrow.allowed };
  }
}

function rootModule(settings: Settings): object {
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
    ],
    controllers: [LimitedController],
  })
  class RootModule {}
  return RootModule;
}

const settingsWith = (more: Record<string, string>) =>
  readSettings({ LOG_LEVEL: 'silent', ...more }, { role: 'all', demo: false });

describe('a limited route', () => {
  it('tells the tightest of its limits, and when to come back once it is used up', async () => {
    const settings = settingsWith({});
    const app = await createHttpApp({
      rootModule: rootModule(settings) as new () => object,
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
    expect(await headersOf()).toEqual([
      '1',
      '0',
      expect.stringMatching(/^(29|30)$/),
      expect.stringMatching(/^(29|30)$/),
    ]);
    await app.close();
  });
});

describe('a start while Redis is away', () => {
  it('succeeds; limits hold and readiness names the part', async () => {
    const settings = settingsWith({
      DATABASE_URL: 'postgresql://unused',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    const app = await NestFactory.createApplicationContext(rootModule(settings) as new () => object, { logger: false });
    const limit = { bucket: newId(), limit: 1, windowSeconds: 60 };
    expect((await app.get(RateLimiter).hit(limit)).allowed).toBe(true);
    expect((await app.get(RateLimiter).hit(limit)).allowed).toBe(false);
    expect(await app.get(Health).readiness()).toMatchObject({
      status: 'unavailable',
      checks: { redis: expect.any(String) },
    });
    await app.close();
  });
});
