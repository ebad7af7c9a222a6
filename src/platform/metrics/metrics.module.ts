import { Global, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Metrics } from './metrics.js';
import { ProcessMetrics } from './process-metrics.js';

/** Has a registry of its own: all services in the process would share prom-client's global one. */
@Global()
@Module({
  providers: [{ provide: Registry, useFactory: () => new Registry() }, Metrics, ProcessMetrics],
  exports: [Metrics],
})
export class MetricsModule {}
