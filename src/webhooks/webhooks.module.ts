import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { ChangeWebhook } from './application/change-webhook.js';
import { CheckEndpoint } from './application/check-endpoint.js';
import { CreateWebhook } from './application/create-webhook.js';
import { DeliverWebhooks } from './application/deliver-webhooks.js';
import { DeliveryResults } from './application/delivery-results.js';
import { EndpointSecrets } from './application/endpoint-secrets.js';
import { ReadWebhooks } from './application/read-webhooks.js';
import { RecordRunEvents } from './application/record-run-events.js';
import { RecordEventsOfContexts } from './application/record-events-of-contexts.js';
import { Redeliver } from './application/redeliver.js';
import { RemoveWebhook } from './application/remove-webhook.js';
import { RotateWebhookSecret } from './application/rotate-webhook-secret.js';
import { SendEvent } from './application/send-event.js';
import { ServeEndpoint } from './application/serve-endpoint.js';
import { SubscribedOrganizations } from './application/subscribed-organizations.js';
import { TestWebhook } from './application/test-webhook.js';
import { WebhookMetrics } from './application/webhook-metrics.js';
import { WebhooksController } from './http/webhooks.controller.js';
import { PurgeDeliveries, purgeDeliveries } from './jobs/purge-deliveries.job.js';
import { RemoveDeliveries, removeDeliveries } from './jobs/remove-deliveries.job.js';
import { SwitchOffFailing, switchOffFailing } from './jobs/switch-off-failing.job.js';
import { DeliveryRepository } from './persistence/delivery.repository.js';
import { EndpointRepository } from './persistence/endpoint.repository.js';

const endpoints = [
  ...[EndpointRepository, SubscribedOrganizations, EndpointSecrets, CheckEndpoint, ReadWebhooks, CreateWebhook],
  ...[ChangeWebhook, RemoveWebhook, RotateWebhookSecret, TestWebhook, Redeliver],
];

const deliveries = [
  ...[DeliveryRepository, DeliveryResults, SendEvent, ServeEndpoint, DeliverWebhooks, WebhookMetrics],
  ...[PurgeDeliveries, RemoveDeliveries, SwitchOffFailing],
];

/** Sends events of organizations to their endpoints. */
@Module({
  imports: [AgentsModule, JobsModule.define(purgeDeliveries, removeDeliveries, switchOffFailing)],
  controllers: [WebhooksController],
  providers: [...endpoints, ...deliveries, RecordRunEvents, RecordEventsOfContexts],
  exports: [RecordRunEvents],
})
export class WebhooksModule {}
