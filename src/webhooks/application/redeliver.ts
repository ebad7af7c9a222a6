import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { DeliveryNotFound, WebhookDisabled, WebhookNotFound } from '../domain/webhooks.errors.js';
import { DeliveryRepository } from '../persistence/delivery.repository.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';

/** Sends a delivery again, whatever became of it, with all its attempts. The event keeps its id. */
@Injectable()
export class Redeliver {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointRepository,
    private readonly deliveries: DeliveryRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws WebhookNotFound, DeliveryNotFound, WebhookDisabled */
  async execute(organizationId: string, endpointId: string, deliveryId: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const endpoint = await this.endpoints.find(organizationId, endpointId, transaction);
      if (!endpoint) throw new WebhookNotFound();
      const now = this.clock.now();
      if (!(await this.deliveries.sendAgain(transaction, endpoint, deliveryId, now))) throw new DeliveryNotFound();
      // After the search for the delivery: an absent one is 404 whatever the state.
      if (!endpoint.enabled) throw new WebhookDisabled();
    });
  }
}
