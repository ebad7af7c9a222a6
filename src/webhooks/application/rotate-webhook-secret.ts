import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { WebhookNotFound } from '../domain/webhooks.errors.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';
import { EndpointSecrets, type RotatedSecret } from './endpoint-secrets.js';

@Injectable()
export class RotateWebhookSecret {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointRepository,
    private readonly secrets: EndpointSecrets,
  ) {}

  /** The former secret also signs for 24 hours; older ones stop signing. @throws WebhookNotFound */
  execute(organizationId: string, id: string): Promise<RotatedSecret> {
    return this.database.transaction(async (transaction) => {
      // Locked, so that of two rotations the later one keeps the secret of the earlier one.
      const endpoint = await this.endpoints.findForUpdate(transaction, organizationId, id);
      if (!endpoint) throw new WebhookNotFound();
      return this.secrets.rotate(transaction, endpoint);
    });
  }
}
