import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { Endpoint, EndpointChanges } from '../domain/endpoint.js';
import { WebhookNotFound } from '../domain/webhooks.errors.js';
import { DeliveryRepository } from '../persistence/delivery.repository.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';
import { CheckEndpoint } from './check-endpoint.js';

@Injectable()
export class ChangeWebhook {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointRepository,
    private readonly deliveries: DeliveryRepository,
    private readonly check: CheckEndpoint,
  ) {}

  /**
   * Changes the given settings. Switching it off fails what is owed to it, within seconds; a new address, and switching it on, forget
   * earlier failures.
   * @throws WebhookNotFound, ValidationFailed
   */
  async execute(organizationId: string, id: string, { enabled, ...settings }: EndpointChanges): Promise<Endpoint> {
    await this.check.execute(organizationId, settings);
    return this.database.transaction(async (transaction) => {
      const known = await this.endpoints.findForUpdate(transaction, organizationId, id);
      if (!known) throw new WebhookNotFound();
      const isSwitchedOn = enabled === true && !known.enabled;
      // The process that fails what is owed may not have come to all of it.
      if (isSwitchedOn) await this.deliveries.failPending(transaction, organizationId, id);
      const state = {
        enabled: enabled ?? known.enabled,
        disabledReason: enabled === undefined ? known.disabledReason : null,
      };
      const endpoint: Endpoint = { ...known, ...settings, ...state };
      await this.endpoints.store(transaction, endpoint, isSwitchedOn || endpoint.url !== known.url);
      return endpoint;
    });
  }
}
