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
import { OpenRequests } from './open-requests.js';
import { ServedRequests } from './served-requests.js';
import { EventStreams } from './sse.js';

/**
 * The parts of every HTTP application of the service: health, metrics, the OpenAPI document and its page, event streams. Needs
 * `Settings`, `Clock` and `Logger` from global modules, and `DatabaseModule` if there is a database.
 */
@Global()
@Module({
  imports: [DiscoveryModule, LifecycleModule, MetricsModule],
  controllers: [HealthController, MetricsController, DocsController],
  providers: [
    Health,
    DatabaseHealth,
    FileStoreHealth,
    OpenApiDocument,
    OpenRequests,
    EventStreams,
    ServedRequests,
    BackgroundPace,
  ],
  exports: [EventStreams, Health, OpenApiDocument, BackgroundPace],
})
export class HttpModule {}
