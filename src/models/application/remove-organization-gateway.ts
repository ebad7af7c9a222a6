import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Vault } from '../../platform/vault/index.js';
import { GatewayNotSet } from '../domain/gateway.errors.js';
import { OrganizationGatewayChanged } from '../domain/gateway.events.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { gatewayTokenRef } from './gateway-secret.js';

@Injectable()
export class RemoveOrganizationGateway {
  constructor(
    private readonly database: Database,
    private readonly gateways: GatewayRepository,
    private readonly vault: Vault,
    private readonly events: EventBus,
  ) {}

  /**
   * Removes the gateway and its token, even if the plan no longer includes a gateway.
   * @throws GatewayNotSet
   */
  async execute(organizationId: string): Promise<void> {
    const removed = await this.database.transaction(async (transaction) => {
      const wasSet = await this.gateways.remove(transaction, organizationId);
      await this.vault.remove(transaction, [gatewayTokenRef(organizationId)]);
      return wasSet;
    });
    if (!removed) throw new GatewayNotSet();
    this.events.publish(new OrganizationGatewayChanged(organizationId));
  }
}
