import { Global, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Metrics } from './metrics.js';
import { ProcessMetrics } from './process-metrics.js';

/** Provides `Metrics`, over a registry of its own: the client's global one would be shared by all services in the process. */
@Global()
@Module({
  providers: [{ provide: Registry, useFactory: () => new Registry() }, Metrics, ProcessMetrics],
  exports: [Metrics],
})
export class MetricsModule {}
