import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import type { DeliveryAttempt } from '../domain/delivery.js';
import { TEST_EVENT, type WebhookEvent } from '../domain/webhook-event.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { ReadWebhooks } from './read-webhooks.js';
import { SendEvent } from './send-event.js';

/** Sends an event without data once. No delivery is stored, and the endpoint's state stays as it is. */
@Injectable()
export class TestWebhook {
  constructor(
    private readonly webhooks: ReadWebhooks,
    private readonly secrets: EndpointSecrets,
    private readonly send: SendEvent,
    private readonly clock: Clock,
  ) {}

  /** Also for an endpoint that is switched off. @throws WebhookNotFound */
  async execute(organizationId: string, id: string, signal: AbortSignal): Promise<DeliveryAttempt> {
    const endpoint = await this.webhooks.find(organizationId, id);
    const to = { url: endpoint.url, signing: await this.secrets.read(endpoint) };
    const event: WebhookEvent = { id: newId(), type: TEST_EVENT, createdAt: this.clock.now(), data: {} };
    return (await this.send.execute(to, event, signal)).attempt;
  }
}
