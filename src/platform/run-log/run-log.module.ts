import { Global, Module } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { Clock } from '../clock/index.js';
import { Settings } from '../config/index.js';
import { REDIS } from '../redis/index.js';
import { Logger } from '../telemetry/index.js';
import { MemoryRunLog } from './memory-run-log.js';
import { RedisRunLog } from './redis-run-log.js';
import { RunLog } from './run-log.js';

@Global()
@Module({
  providers: [
    {
      provide: RunLog,
      inject: [REDIS, Settings, Clock, Logger],
      useFactory: (redis: Redis | null, settings: Settings, clock: Clock, logger: Logger): RunLog | Promise<RunLog> =>
        redis ? RedisRunLog.connect(redis, { prefix: settings.redisPrefix, clock, logger }) : new MemoryRunLog(clock),
    },
  ],
  exports: [RunLog],
})
export class RunLogModule {}
