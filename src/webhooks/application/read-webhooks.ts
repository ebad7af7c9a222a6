import { Injectable } from '@nestjs/common';
import { Cursors, type Page } from '../../platform/cursors/index.js';
import type { DeliveryStatus } from '../domain/delivery.js';
import type { Endpoint } from '../domain/endpoint.js';
import { WebhookNotFound } from '../domain/webhooks.errors.js';
import { type Delivery, DeliveryRepository } from '../persistence/delivery.repository.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';

export interface ListDeliveriesQuery {
  readonly status?: DeliveryStatus | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

@Injectable()
export class ReadWebhooks {
  constructor(
    private readonly endpoints: EndpointRepository,
    private readonly deliveryRows: DeliveryRepository,
    private readonly cursors: Cursors,
  ) {}

  /** Oldest first. */
  list(organizationId: string): Promise<Endpoint[]> {
    return this.endpoints.list(organizationId);
  }

  /** @throws WebhookNotFound */
  async find(organizationId: string, id: string): Promise<Endpoint> {
    const endpoint = await this.endpoints.find(organizationId, id);
    if (!endpoint) throw new WebhookNotFound();
    return endpoint;
  }

  /** Newest first. @throws WebhookNotFound; ValidationFailed for a cursor that this list has not issued for this status */
  async deliveries(organizationId: string, id: string, query: ListDeliveriesQuery): Promise<Page<Delivery>> {
    await this.find(organizationId, id);
    const { status = null, cursor, limit } = query;
    const scope = { list: `webhook-deliveries:${id}:${status ?? ''}`, organizationId };
    const [after = null] = this.cursors.read(scope, cursor);
    const found = await this.deliveryRows.list(organizationId, id, { status, after, limit: limit + 1 });
    return this.cursors.page(scope, found, limit, (last) => [last.id]);
  }
}
