import { Global, Module } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Settings } from '../config/index.js';
import { Metrics } from '../metrics/index.js';
import { REDIS, REDIS_SUBSCRIBER, type RedisClient } from '../redis/index.js';
import { Logger } from '../telemetry/index.js';
import { MemoryRunLog } from './memory-run-log.js';
import { RedisRunLog } from './redis-run-log.js';
import { RunLog } from './run-log.js';

@Global()
@Module({
  providers: [
    {
      provide: RunLog,
      inject: [REDIS, REDIS_SUBSCRIBER, Settings, Clock, Logger, Metrics],
      useFactory: async (
        ...[redis, subscriber, { redisPrefix: prefix, processName }, clock, logger, metrics]: [
          RedisClient | null,
          RedisClient | null,
          Settings,
          Clock,
          Logger,
          Metrics,
        ]
      ): Promise<RunLog> => {
        const log =
          redis && subscriber
            ? await RedisRunLog.connect(redis, { prefix, processName, clock, logger, subscriber })
            : new MemoryRunLog(clock);
        const help = 'Events of ended runs that this process keeps for readers, in bytes.';
        metrics.gauge({ name: 'agent_service_ended_run_log_bytes', help, labels: {} }, () => log.endedBytes);
        return log;
      },
    },
  ],
  exports: [RunLog],
})
export class RunLogModule {}
