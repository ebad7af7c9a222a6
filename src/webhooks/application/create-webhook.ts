import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import type { Endpoint, EndpointSettings } from '../domain/endpoint.js';
import { WebhookLimitReached } from '../domain/webhooks.errors.js';
import { MAX_ENDPOINTS } from '../limits.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';
import { CheckEndpoint } from './check-endpoint.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { SubscribedOrganizations } from './subscribed-organizations.js';

export interface CreatedWebhook {
  readonly endpoint: Endpoint;
  /** Shown only in this response. */
  readonly secret: string;
}

@Injectable()
export class CreateWebhook {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointRepository,
    private readonly secrets: EndpointSecrets,
    private readonly check: CheckEndpoint,
    private readonly subscribed: SubscribedOrganizations,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed, WebhookLimitReached */
  async execute(organizationId: string, settings: EndpointSettings): Promise<CreatedWebhook> {
    await this.check.execute(organizationId, settings);
    const state = { enabled: true, disabledReason: null, createdAt: this.clock.now() };
    const endpoint: Endpoint = { id: newId(), organizationId, ...settings, ...state };
    const created = await this.database.transaction(async (transaction) => {
      // Otherwise two requests could both find room for the last one.
      await transaction.lock(`webhooks of ${organizationId}`);
      if ((await this.endpoints.count(transaction, organizationId)) >= MAX_ENDPOINTS) throw new WebhookLimitReached();
      await this.endpoints.add(transaction, endpoint);
      const { secret } = await this.secrets.rotate(transaction, endpoint);
      return { endpoint, secret };
    });
    // Also behind another endpoint: that one may have been made a moment ago, or just be removed.
    await this.subscribed.add(organizationId);
    return created;
  }
}
