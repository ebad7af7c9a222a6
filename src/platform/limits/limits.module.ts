import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { inOneSlot, REDIS, type RedisClient, RedisModule } from '../redis/index.js';
import { MemoryWindows } from './memory-windows.js';
import { RedisWindows } from './redis-windows.js';

@Global()
@Module({})
export class LimitsModule {
  /** Provides the two storages of `LimitStorage`: `MemoryWindows`, and `RedisWindows`, which is null without Redis. */
  static forRoot(settings: Settings, clock: Clock): DynamicModule {
    return {
      module: LimitsModule,
      imports: [RedisModule.forRoot(settings)],
      providers: [
        { provide: MemoryWindows, useFactory: () => new MemoryWindows(clock) },
        {
          provide: RedisWindows,
          inject: [REDIS],
          useFactory: (redis: RedisClient | null) =>
            redis && new RedisWindows(redis, clock, `${inOneSlot(redis, `${settings.redisPrefix}-limit`)}:`),
        },
      ],
      exports: [MemoryWindows, RedisWindows],
    };
  }
}
