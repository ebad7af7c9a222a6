import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { LifecycleModule } from '../lifecycle/index.js';
import { MetricsModule } from '../metrics/index.js';
import { DocsController } from './docs/docs.controller.js';
import { OpenApiDocument } from './docs/open-api-document.js';
import { BackgroundPace } from './background-pace.js';
import { HealthController } from './health.controller.js';
import { DatabaseHealth, FileStoreHealth, Health } from './health.js';
import { MetricsController } from './metrics.controller.js';
import { MonitoringServer } from './monitoring-server.js';
import { OpenRequests } from './open-requests.js';
import { ReadinessMetrics } from './readiness-metrics.js';
import { ServedRequests } from './served-requests.js';
import { EventStreams } from './sse.js';

/**
 * The parts of every HTTP application of the service: health, the OpenAPI document and its page, event streams. Needs
 * `Settings`, `Clock` and `Logger` from global modules, and `DatabaseModule` if there is a database.
 */
@Global()
@Module({
  imports: [DiscoveryModule, LifecycleModule, MetricsModule],
  controllers: [HealthController, DocsController],
  providers: [
    Health,
    DatabaseHealth,
    FileStoreHealth,
    ReadinessMetrics,
    MonitoringServer,
    OpenApiDocument,
    OpenRequests,
    EventStreams,
    ServedRequests,
    BackgroundPace,
  ],
  exports: [EventStreams, Health, MonitoringServer, OpenApiDocument, BackgroundPace],
})
export class HttpModule {}

/** `GET /metrics` beside the routes of customers, for a service without `METRICS_PORT`. */
@Module({ imports: [MetricsModule], controllers: [MetricsController] })
export class MetricsRouteModule {}
