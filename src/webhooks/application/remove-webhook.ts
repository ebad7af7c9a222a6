import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { Outbox } from '../../platform/jobs/index.js';
import { WebhookNotFound } from '../domain/webhooks.errors.js';
import { removeDeliveries } from '../jobs/remove-deliveries.job.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';
import { EndpointSecrets } from './endpoint-secrets.js';

@Injectable()
export class RemoveWebhook {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointRepository,
    private readonly secrets: EndpointSecrets,
    private readonly outbox: Outbox,
  ) {}

  /** A job removes its deliveries, of which there may be millions. @throws WebhookNotFound */
  async execute(organizationId: string, id: string): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if (!(await this.endpoints.remove(transaction, organizationId, id))) throw new WebhookNotFound();
      await this.secrets.remove(transaction, { organizationId, id });
      await this.outbox.enqueue(transaction, removeDeliveries, { endpointId: id });
    });
  }
}
