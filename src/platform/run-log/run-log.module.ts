import { Global, Module } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { Clock } from '../clock/index.js';
import { Settings } from '../config/index.js';
import { Metrics } from '../metrics/index.js';
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
      inject: [REDIS, Settings, Clock, Logger, Metrics],
      useFactory: async (
        ...[redis, { redisPrefix: prefix }, clock, logger, metrics]: [Redis | null, Settings, Clock, Logger, Metrics]
      ): Promise<RunLog> => {
        const log = redis ? await RedisRunLog.connect(redis, { prefix, clock, logger }) : new MemoryRunLog(clock);
        const help = 'Events of ended runs that this process keeps for readers, in bytes.';
        metrics.gauge({ name: 'agent_service_ended_run_log_bytes', help, labels: {} }, () => log.endedBytes);
        return log;
      },
    },
  ],
  exports: [RunLog],
})
export class RunLogModule {}
