import { type DynamicModule, Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { REDIS, RedisModule } from '../redis/index.js';
import { MemoryWindows } from './memory-windows.js';
import { RateLimiter } from './rate-limiter.js';
import { RedisWindows } from './redis-windows.js';
import { WindowRateLimiter } from './window-rate-limiter.js';

@Injectable()
class MemoryWindowsCloser implements OnApplicationShutdown {
  constructor(@Inject(MemoryWindows) private readonly windows: MemoryWindows) {}

  onApplicationShutdown(): void {
    this.windows.close();
  }
}

@Global()
@Module({})
export class LimitsModule {
  /** Provides `RateLimiter`: in this process's memory, or in Redis with that memory for when Redis is away. */
  static forRoot(settings: Settings, clock: Clock): DynamicModule {
    return {
      module: LimitsModule,
      imports: [RedisModule.forRoot(settings)],
      providers: [
        { provide: MemoryWindows, useFactory: () => new MemoryWindows(clock) },
        MemoryWindowsCloser,
        {
          provide: RateLimiter,
          inject: [MemoryWindows, REDIS],
          useFactory: (memory: MemoryWindows, redis: Redis | null): RateLimiter =>
            new WindowRateLimiter(memory, redis ? new RedisWindows(redis, `${settings.redisPrefix}-limit:`) : undefined),
        },
      ],
      exports: [RateLimiter],
    };
  }
}
